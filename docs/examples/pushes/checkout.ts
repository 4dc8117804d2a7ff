import { defineResource, s } from '@bowline/runtime/resource';

/** Checkout names a repository; its status has the revision that was last seen there. */
export const Checkout = defineResource({
  group: 'example.bowline.dev',
  version: 'v1',
  kind: 'Checkout',
  scope: 'Namespaced',
  spec: s.object({ repository: s.string().minLength(1) }),
  status: s.object({ revision: s.string().optional() }),
});
