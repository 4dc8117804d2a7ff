import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';

/** Preview is a running copy of an application, made for one pull request and gone when its time is over. */
export const Preview = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Preview',
  scope: 'Namespaced',
  shortNames: ['prv'],
  description: 'A running copy of an application for one pull request, gone when its time is over.',
  spec: s
    .object({
      image: s
        .string()
        .minLength(1)
        .maxLength(512)
        .rule("!self.endsWith(':latest')", { message: 'name a tag or digest: latest changes under a running preview' })
        .describe('The container image to run.'),
      host: s
        .dnsLabel()
        .immutable('the host cannot change: delete the Preview and make another')
        .describe("The first label of the address; the operator's domain is the rest."),
      port: s.integer('int32').min(1).max(65_535).default(8080).describe('The port that the application listens on.'),
      replicas: s.integer('int32').min(1).max(3).default(1).describe('How many copies run.'),
      keepFor: s.duration().min('10m').max('336h').default('72h').describe('How long it lives, from its creation on.'),
    })
    .rule("self.replicas == 1 || self.keepFor <= duration('24h')", {
      message: 'a Preview with several replicas is kept for at most 24h',
      fieldPath: '.keepFor',
    })
    .describe('What is wanted.'),
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z][-a-z0-9]{0,49}$')",
      message: 'its children have the same name: at most 50 lower-case letters, digits and dashes, a letter first',
    },
  ],
  status: s.object({
    url: s.string().optional().describe('Where the application is reached.'),
    expiresAt: s.dateTime().optional().describe('When the Preview is deleted.'),
  }),
  columns: [
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'URL', path: '.status.url' },
    { name: 'Expires', path: '.status.expiresAt', type: 'string', priority: 1 },
  ],
});

/** Preview is an object of the kind, as it is read. */
export type Preview = ObjectOf<typeof Preview>;
