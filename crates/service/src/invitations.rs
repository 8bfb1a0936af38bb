//! invitations
