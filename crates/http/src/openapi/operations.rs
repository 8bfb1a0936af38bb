//! What each operation does, beyond its summary: effects, conditions and what it leaves alone.

/// Words for an operation; none for one that is not there.
pub(super) fn about(operation: &str) -> &'static str {
    observations(operation)
        .or_else(|| objectives(operation))
        .or_else(|| assignments(operation))
        .or_else(|| conversations(operation))
        .or_else(|| summaries(operation))
        .or_else(|| search(operation))
        .or_else(|| people(operation))
        .or_else(|| library(operation))
        .or_else(|| access(operation))
        .or_else(|| webhooks(operation))
        .unwrap_or_default()
}

fn observations(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listObservations" => "Lists observations, newest first; archived ones only where they are asked for.",
        "createObservation" => "Records one strength or opportunity about one person who is active or deactivated.",
        "getObservation" => "Answers one observation, also an archived one.",
        "updateObservation" => {
            "Changes the texts and attributes; the person, the type and the day are for good. 409 \
                                while it is archived."
        }
        "archiveObservation" => {
            "Puts an observation out of lists and out of reach of changes; 409 if it is there \
                                 already."
        }
        "restoreObservation" => "Takes an observation out of the archive; 409 if it is not there.",
        _ => return None,
    })
}

/// Both families of objectives work alike.
fn objectives(operation: &str) -> Option<&'static str> {
    let of_either = operation.replace("EmployeeObjective", "Objective").replace("ManagerObjective", "Objective");
    Some(match of_either.as_str() {
        "listObjectives" => {
            "Lists the objectives of these paths, without archived ones unless `filter[status]` names \
                             them."
        }
        "createObjective" => {
            "Creates an objective, `proposed` unless told otherwise. Where reviews are required, \
                              another status takes an admin-level key."
        }
        "getObjective" => "Answers one objective of these paths; those of the other paths are 404 here.",
        "updateObjective" => {
            "Changes title, description or period, or moves it between `approved` and `in_progress`. \
                              409 once it is completed, missed or archived."
        }
        "listObjectiveHistory" => {
            "Lists what was done, with the comment, outcome or reason, but not where requests \
                                   came from. The changes of a submission are what differs from the one before."
        }
        "submitObjective" => {
            "Puts a proposed objective up for review: sets `submitted_at` and tells the owner's \
                              manager, or the org admins where there is none. 409 while it is in review."
        }
        "approveObjective" => {
            "Approves a proposed objective and tells its owner. Where reviews are required, it has \
                               to be in review."
        }
        "rejectObjective" => {
            "Sends a proposed objective back with a reason, which its owner is told; `submitted_at` \
                              is null again."
        }
        "completeObjective" => "Says that an objective that is approved or in progress was reached.",
        "missObjective" => "Says that an objective in progress was not reached.",
        "archiveObjective" => "Puts an objective of any status away for good; 409 if it is archived already.",
        _ => return None,
    })
}

fn assignments(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listAssignments" => "Lists assignments of every status, newest first.",
        "createAssignment" => {
            "Asks reviewers for observations about one person, and tells them. A key that acts for a person asks as that \
             person."
        }
        "getAssignment" => "Answers one assignment with what came of each reviewer.",
        "submitFeedback" => {
            "Records the observations of one reviewer about the person, as if they were recorded one by one, and notes the \
             submission with them. The last one that is required completes the assignment and tells the requester. 409 \
             if it is not open, or the reviewer has submitted already. A key that acts for a person submits as that \
             person only."
        }
        "cancelAssignment" => "Calls an open assignment off; what was submitted stays. 409 if it is not open.",
        _ => return None,
    })
}

fn conversations(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listConversations" => {
            "Lists conversations, those first in which somebody wrote last; one without messages counts from when it \
             began. Archived ones only where they are asked for."
        }
        "createConversation" => {
            "Begins a conversation of 2 to 20 people, perhaps about one resource. A key that acts for a person begins \
             those that the person takes part in."
        }
        "getConversation" => "Answers one conversation without its messages, also an archived one.",
        "updateConversation" => {
            "Changes the title and the people; what it is about is for good. 409 while it is archived."
        }
        "archiveConversation" => {
            "Puts a conversation out of lists for good: it takes no more messages and changes, and can still be read. \
             409 if it is archived already."
        }
        "listMessages" => "Lists the messages of a conversation, newest first, also of an archived one.",
        "createMessage" => {
            "Adds a message, which never changes, and tells the other participants. 409 while the conversation is \
             archived. A key that acts for a person writes as that person only."
        }
        "getMessage" => "Answers one message of the conversation.",
        _ => return None,
    })
}

fn summaries(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listSummaries" => "Lists summaries by creation, without archived ones unless `filter[status]` names them.",
        "createSummary" => {
            "Writes a draft. A key that acts for a person writes as that person (`author_id`), or about people who report \
             to that person."
        }
        "getSummary" => "Answers one summary, whatever its status.",
        "updateSummary" => {
            "Changes the title, the body, the period and what it rests on while it is a draft or in review, else 409. \
             What it rests on is replaced as a whole; what is new to it has to be there, about the same person, and not \
             archived."
        }
        "submitSummary" => {
            "Puts a draft up for review and tells the employee's manager, or the org admins where there is none. 422 \
             while its body is blank."
        }
        "approveSummary" => {
            "Approves a draft or what is in review; where reviews are required, only the latter. From now on it is fixed \
             and keeps its observations, also those that are archived."
        }
        "returnSummary" => {
            "Makes a draft again of what is in review or approved, and tells its author why. Observations that are \
             archived by then disappear from it."
        }
        "shareSummary" => "Shows an approved summary to the employee, who is told.",
        "giveSummaryFeedback" => {
            "Records what the employee answers to a shared summary, once, and tells its author. A key that acts for a \
             person gives that person's feedback only."
        }
        "archiveSummary" => "Puts a summary of any status away for good; 409 if it is archived already.",
        _ => return None,
    })
}

fn search(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "search" => {
            "Finds what has all of the words, of the last one at least the beginning, without regard to case and accents: \
             first what has them all whole, then the rest, each with the newest first. What is archived is not found, nor \
             people who have left. A key that acts for a person finds what that person sees. What was written is found by \
             the next request."
        }
        _ => return None,
    })
}

fn people(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listEmployees" => "Lists people by last name; active ones unless `filter[status]` says otherwise.",
        "createEmployee" => {
            "Records a person as active, or as invited with `send_invite`. 409 if the e-mail address is \
                             taken, whatever the status of who has it."
        }
        "upsertEmployees" => {
            "Records and updates people by e-mail address, or by `external_id` where the file has that \
                              column. A bad row is reported, and the others are done all the same."
        }
        "getEmployee" => "Answers one person of any status.",
        "updateEmployee" => {
            "Changes what is given. What an HR system owns is 422, and so is a manager below the person."
        }
        "deactivateEmployee" => "Says that an active person has left; the reporting line and the records stay.",
        "reactivateEmployee" => "Says that a deactivated person works there again, as before.",
        "rehireEmployee" => {
            "Says that a deactivated person works there again, with another manager, department or \
                             custom fields where they are given."
        }
        "getInvitation" => "Answers the newest invitation of a person; 404 where there never was one.",
        "inviteEmployee" => {
            "Sends a new invitation to a person who has not accepted; the token before is good no more. The mail \
             goes out afterwards, and never fails the request."
        }
        "acceptInvitation" => {
            "Makes the invited person active. A token that is unknown, used, expired or revoked is one \
                               and the same 404. 20 a minute from one address."
        }
        "listNotifications" => {
            "Lists what people were told, newest first. A key that acts for a person sees that \
                                person's only."
        }
        "readNotification" => "Notes that a notification was read. Doing so again changes nothing.",
        "readAllNotifications" => "Notes that everything that was sent to a person so far was read.",
        _ => return None,
    })
}

fn library(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listDepartments" => "Lists departments by name, without archived ones unless they are asked for.",
        "createDepartment" => "Creates a department; 409 if the name is taken, also by an archived one.",
        "getDepartment" => "Answers one department, also an archived one.",
        "updateDepartment" => "Renames a department; 409 while it is archived.",
        "archiveDepartment" => "Puts a department out of use; 409 while anybody belongs to it who is not deactivated.",
        "restoreDepartment" => "Puts an archived department back to use; 409 if it is not archived.",
        "listAttributes" => "Lists attributes by name, without archived ones unless they are asked for.",
        "createAttribute" => "Creates an attribute; 409 if the name is taken, also by an archived one.",
        "getAttribute" => "Answers one attribute, also an archived one.",
        "updateAttribute" => "Changes name, category or tone; 409 while it is archived.",
        "archiveAttribute" => "Puts an attribute out of use; observations that have it keep it.",
        "restoreAttribute" => "Puts an archived attribute back to use; 409 if it is not archived.",
        _ => return None,
    })
}

fn access(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "getMe" => "Answers what the key of the request is, may do, and how often it may ask.",
        "getOrganization" => "Answers the organization that the key belongs to.",
        "updateOrganization" => "Changes the name and how reviews go.",
        "listApiKeys" => "Lists the keys of the organization, without secrets.",
        "createApiKey" => {
            "Creates a key that may do no more than the one that asks. Its secret is in this answer only."
        }
        "getApiKey" => "Answers one key, without its secret.",
        "updateApiKey" => "Changes the name, the scopes or the end; it takes effect everywhere within a second.",
        "rotateApiKey" => {
            "Gives a key a new secret, which is in this answer only. The one before stays good for a while."
        }
        "revokeApiKey" => "Ends a key for good, everywhere within a second.",
        "listConnectors" => "Lists the connections to HR systems.",
        "createConnector" => "Connects an HR system, which then owns the records of people whom it brings.",
        "getConnector" => "Answers one connection to an HR system.",
        "resetTestData" => {
            "Removes everything from the data set of test keys but the organization's settings, its keys and the audit \
             log; the starter set of attributes is put back. Live data are never touched. Where there is much, it ends \
             after 15 seconds with `complete: false`, and the next request goes on."
        }
        "releaseEmployees" => {
            "Gives the records of people whom an HR system owns back, with the values that they have."
        }
        "getDocument" => "Answers the description of this API that the reference and generated clients are made from.",
        _ => return None,
    })
}

fn webhooks(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "listWebhooks" => "Lists the subscriptions, newest first, without secrets.",
        "createWebhook" => {
            "Subscribes a URL to types of events. The secret that deliveries are signed with is in this \
                            answer only."
        }
        "getWebhook" => "Answers one subscription, without its secret.",
        "updateWebhook" => "Changes what is given. With `rotate_secret` the answer has the new secret, and only then.",
        "deleteWebhook" => "Removes a subscription and its log for good; what was queued for it is not sent.",
        "listDeliveries" => "Lists one entry per attempt, newest first.",
        "getDelivery" => "Answers one attempt of the log.",
        "testWebhook" => "Sends a `test.ping` once, also to a subscription that is not active.",
        "redeliver" => {
            "Delivers the event of an attempt again, with retries like any other. Where the event is queued \
                        still, its next attempt is brought forward to now."
        }
        "replayEvents" => "Delivers events of a time again, as far as the subscription wants them.",
        "listEvents" => {
            "Reads events in the order in which their changes were saved, without gaps. `next_cursor` is \
                         there also at the end, for the next time."
        }
        "getEvent" => "Answers one event, as it was delivered.",
        "listAuditLog" => "Lists who did what, newest first.",
        _ => return None,
    })
}
