import { s } from '@bowline/runtime/resource';
import { SECRET_KEY } from '../checks/text-limits.ts';
import { checkedText } from './checked-text.ts';

/** secretKeyRef returns the schema of a reference to a key of a Secret in the same namespace. */
export const secretKeyRef = () =>
  s.object({
    name: s.dnsSubdomain().describe('The name of a Secret in the same namespace.'),
    key: checkedText(SECRET_KEY).describe('The key in the Secret.'),
  });
