-- Messages update `last_message_at` without a new version. `active_at`, the sort column of lists, is derived
-- from it, so that another change cannot set it back.
CREATE TABLE conversations (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    title TEXT NOT NULL,
    about_type TEXT,
    about_id BLOB,
    participant_ids BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    archived INTEGER NOT NULL,
    last_message_at INTEGER,
    active_at INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(last_message_at, created_at)) STORED,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX conversations_by_active_at ON conversations (tenant_id, archived, active_at, id);
CREATE INDEX conversations_by_created_at ON conversations (tenant_id, archived, created_at, id);
CREATE INDEX conversations_by_updated_at ON conversations (tenant_id, archived, updated_at, id);
CREATE INDEX conversations_by_about ON conversations (tenant_id, about_id, about_type, archived, active_at, id);

-- Conversations by participant, who sees them.
CREATE TABLE conversation_participants (
    tenant_id BLOB NOT NULL,
    participant_id BLOB NOT NULL,
    conversation_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, participant_id, conversation_id),
    CONSTRAINT conversation_participants_conversation FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    CONSTRAINT conversation_participants_participant FOREIGN KEY (tenant_id, participant_id) REFERENCES employees (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_participants_by_conversation ON conversation_participants (tenant_id, conversation_id, participant_id);

-- Messages are immutable.
CREATE TABLE messages (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    conversation_id BLOB NOT NULL,
    author_id BLOB NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT messages_conversation FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    CONSTRAINT messages_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
) STRICT;
CREATE INDEX messages_by_conversation ON messages (tenant_id, conversation_id, created_at, id);
CREATE INDEX messages_by_author ON messages (tenant_id, conversation_id, author_id, created_at, id);
