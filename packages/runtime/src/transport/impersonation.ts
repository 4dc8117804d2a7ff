import type { Impersonation } from './connection-config.ts';

/**
 * impersonationHeaders is how a request says whose identity it takes on. Groups and extra values are repeated headers: the
 * server does not split a list.
 */
export function impersonationHeaders(impersonation: Impersonation): Readonly<Record<string, string | string[]>> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonation.user };
  if (impersonation.uid !== undefined) headers['impersonate-uid'] = impersonation.uid;
  if (impersonation.groups && impersonation.groups.length > 0) headers['impersonate-group'] = [...impersonation.groups];
  for (const [key, values] of Object.entries(impersonation.extra ?? {})) {
    // Header names are case-insensitive, so the server expects what is not a token character percent-encoded.
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = [...values];
  }
  return headers;
}
