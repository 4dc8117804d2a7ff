import type { Impersonation } from './connection-config.ts';

/**
 * impersonationHeaders returns the headers that impersonate a user. Groups and extra values become repeated headers
 * because the server does not split lists.
 */
export function impersonationHeaders(impersonation: Impersonation): Readonly<Record<string, string | string[]>> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonation.user };
  if (impersonation.uid !== undefined) headers['impersonate-uid'] = impersonation.uid;
  if (impersonation.groups && impersonation.groups.length > 0) headers['impersonate-group'] = [...impersonation.groups];
  for (const [key, values] of Object.entries(impersonation.extra ?? {})) {
    // Header names are case-insensitive, so the server expects characters outside the token set to be percent-encoded.
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = [...values];
  }
  return headers;
}
