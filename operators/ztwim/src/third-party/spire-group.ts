import { s } from '@bowline/runtime/resource';

/** GROUP is the API group of the kinds of the SPIRE controller manager. */
export const GROUP = 'spire.spiffe.io';

/** VERSION is the version of the kinds of the SPIRE controller manager. */
export const VERSION = 'v1alpha1';

/** texts returns the schema of an optional list of text. */
export function texts(description: string) {
  return s.array(s.string()).listType('atomic').describe(description).optional();
}
