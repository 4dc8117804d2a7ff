import { defineResource, s } from '@bowline/runtime/resource';

/** Fleet runs an agent on every node; each agent reports what it finds there. */
export const Fleet = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Fleet',
  scope: 'Namespaced',
  spec: s.object({ image: s.string().minLength(1) }),
  status: s.object({}),
});
