import { dnsLabelProblems, dnsSubdomainProblems } from '@bowline/machinery';

const PREFIX = 'system:serviceaccount:';
/** Every ServiceAccount is in this group. */
const ALL_ACCOUNTS = 'system:serviceaccounts';

/** serviceAccountName returns the username of a ServiceAccount. */
export function serviceAccountName(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`;
}

/** serviceAccountGroups returns the groups of the ServiceAccounts in a namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return [ALL_ACCOUNTS, `${ALL_ACCOUNTS}:${namespace}`];
}

/** splitServiceAccountName is the inverse of `serviceAccountName`; it returns undefined for any other username. */
export function splitServiceAccountName(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(PREFIX.length).split(':');
  if (more.length > 0 || dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0)
    return undefined;
  return { namespace, name };
}
