/** The kinds of breaks, with their remedy. */
export const KINDS = {
  'is gone': 'Keep it, and answer as before',
  'may be missing': 'Send it always, as before',
  'has a value less': 'Keep the value',
  'is required': 'Make it optional, with a default that acts as before',
  'has another type': 'Keep the type, and add a second field or parameter',
  'has a new or narrower rule': 'Accept what was accepted',
  'has another default': 'Keep the default',
  'needs another authentication or scope': 'Accept the keys that were accepted',
};
