import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';

/** Shop is an application with a front end, a back end, and settings for both. */
export const Shop = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Shop',
  scope: 'Namespaced',
  description: 'An application with a front end, a back end, and settings for both.',
  spec: s.object({
    image: s.string().minLength(1).maxLength(512).describe('The container image of both parts.'),
    settings: s
      .object({
        name: s.dnsSubdomain().describe('The ConfigMap that holds the settings.'),
        adopt: s.boolean().default(false).describe('Adopt an existing ConfigMap of that name.'),
        values: s.map(s.string()).describe('The content of the ConfigMap.'),
      })
      .describe('The settings of both parts.'),
  }),
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z][-a-z0-9]{0,49}$')",
      message: 'the name must start with a letter, and have at most 50 lower-case letters, digits and dashes',
    },
  ],
  status: s.object({}),
  columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
});

/** Shop is the type of the object. */
export type Shop = ObjectOf<typeof Shop>;
