/** The maximum length of a store's error text in a message. */
const LONGEST = 200;

/** Parts that differ between equivalent responses, or could grant access: ids, times, tokens. */
const VOLATILE =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\beyJ[\w-]+\.[\w.-]+|\bhv[sbr]\.[\w-]+|\b[sbr]\.\w{20,}/gi;

/**
 * said returns the error text of a store as one short line that may be shown: without ids, times and tokens, and
 * without any of the credentials that were sent to it.
 */
export function said(text: string, credentials: readonly string[] = []): string {
  let shown = text;
  for (const credential of credentials) if (credential !== '') shown = shown.replaceAll(credential, '…');
  shown = shown
    .replace(VOLATILE, '…')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}
