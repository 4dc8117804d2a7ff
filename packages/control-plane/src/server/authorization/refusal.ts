import { quoteText } from '@bowline/machinery';
import type { UserInfo } from '../authentication/user-info.ts';
import { forbidden, StatusError } from '../status/api-status.ts';
import type { Attributes } from './authorizer.ts';

/** refusal returns the error for an action that a user is not allowed. */
export function refusal({ username }: UserInfo, attributes: Attributes, reason: string): StatusError {
  const { verb } = attributes;
  const why = reason === '' ? '' : `: ${reason}`;
  const who = `User ${quoteText(username)} cannot ${verb}`;
  if (!attributes.isResource) {
    const message = `forbidden: ${who} path ${quoteText(attributes.path)}${why}`;
    return new StatusError(403, 'Forbidden', message, {});
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const what = quoteText(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoteText(namespace)}`;
  return forbidden(
    { group, resource },
    name,
    `${who} resource ${what} in API group ${quoteText(group)} ${where}${why}`,
  );
}
