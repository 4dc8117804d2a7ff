import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';

/** Shop is an application in two parts, a front that serves and a back that it needs, with settings for both. */
export const Shop = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Shop',
  scope: 'Namespaced',
  description: 'An application in two parts, a front that serves and a back that it needs, with settings for both.',
  spec: s.object({
    image: s.string().minLength(1).maxLength(512).describe('The container image of both parts.'),
    settings: s
      .object({
        name: s.dnsSubdomain().describe('The ConfigMap that holds the settings.'),
        adopt: s.boolean().default(false).describe('Take over a ConfigMap of that name that somebody else made.'),
        values: s.map(s.string()).describe('All that it holds.'),
      })
      .describe('What both parts read.'),
  }),
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z][-a-z0-9]{0,49}$')",
      message: 'its children are named after it: at most 50 lower-case letters, digits and dashes, a letter first',
    },
  ],
  status: s.object({}),
  columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
});

/** Shop is an object of the kind, as it is read. */
export type Shop = ObjectOf<typeof Shop>;
