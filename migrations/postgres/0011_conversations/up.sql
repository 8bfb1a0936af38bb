-- Messages update `last_message_at` without a new version. `active_at`, the sort column of lists, is derived
-- from it, so that another change cannot set it back.
CREATE TABLE conversations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    title text NOT NULL,
    about_type text,
    about_id uuid,
    participant_ids uuid[] NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    archived boolean NOT NULL,
    last_message_at timestamptz,
    active_at timestamptz NOT NULL GENERATED ALWAYS AS (coalesce(last_message_at, created_at)) STORED,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX conversations_by_active_at ON conversations (tenant_id, archived, active_at, id);
CREATE INDEX conversations_by_created_at ON conversations (tenant_id, archived, created_at, id);
CREATE INDEX conversations_by_updated_at ON conversations (tenant_id, archived, updated_at, id);
CREATE INDEX conversations_by_about ON conversations (tenant_id, about_id, about_type, archived, active_at, id);

-- Conversations by participant, who sees them.
CREATE TABLE conversation_participants (
    tenant_id uuid NOT NULL,
    participant_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, participant_id, conversation_id),
    CONSTRAINT conversation_participants_conversation FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    CONSTRAINT conversation_participants_participant FOREIGN KEY (tenant_id, participant_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX conversation_participants_by_conversation ON conversation_participants (tenant_id, conversation_id, participant_id);

-- Messages are immutable.
CREATE TABLE messages (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    author_id uuid NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT messages_conversation FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    CONSTRAINT messages_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX messages_by_conversation ON messages (tenant_id, conversation_id, created_at, id);
CREATE INDEX messages_by_author ON messages (tenant_id, conversation_id, author_id, created_at, id);
