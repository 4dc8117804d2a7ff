import type { ObjectKey } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const KEY = new RegExp(`^(${LABEL})/(${LABEL}(?:\\.${LABEL})*)$`);

/** parseKey reads the argument NAMESPACE/NAME of a command. It throws BOWLINE_ARGUMENT_INVALID. */
export function parseKey(text: string): Required<ObjectKey> {
  const [, namespace, name] = KEY.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new BowlineError(
    'BOWLINE_ARGUMENT_INVALID',
    `"${text}" does not name an IgnitionSync; write its namespace and name as NAMESPACE/NAME`,
  );
}
