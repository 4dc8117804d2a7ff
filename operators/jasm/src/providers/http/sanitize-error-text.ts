/** The maximum length of a store's error text in a message. */
const MAX_LENGTH = 200;

/** Parts that differ between equivalent responses, or could grant access: ids, times, tokens. */
const VOLATILE =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\beyJ[\w-]+\.[\w.-]+|\bhv[sbr]\.[\w-]+|\b[sbr]\.\w{20,}/gi;

/**
 * sanitizeErrorText returns the error text of a store as one short line that may be shown: without ids, times and
 * tokens, and without any of the credentials that were sent to it.
 */
export function sanitizeErrorText(text: string, credentials: readonly string[] = []): string {
  let sanitized = text;
  for (const credential of credentials) if (credential !== '') sanitized = sanitized.replaceAll(credential, '…');
  sanitized = sanitized
    .replace(VOLATILE, '…')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();
  return sanitized.length > MAX_LENGTH ? `${sanitized.slice(0, MAX_LENGTH)}…` : sanitized;
}
