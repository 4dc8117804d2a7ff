import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';

/** Preview is a running copy of an application for one pull request. It is deleted when it expires. */
export const Preview = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Preview',
  scope: 'Namespaced',
  shortNames: ['prv'],
  description: 'A running copy of an application for one pull request. It is deleted when it expires.',
  spec: s
    .object({
      image: s
        .string()
        .minLength(1)
        .maxLength(512)
        .rule("!self.endsWith(':latest')", { message: 'latest is a mutable tag; use another tag or a digest' })
        .describe('The container image to run.'),
      host: s
        .dnsLabel()
        .immutable('the host is immutable; delete the Preview and create another')
        .describe("The first label of the host name, followed by the operator's domain."),
      port: s.integer('int32').min(1).max(65_535).default(8080).describe('The port that the application listens on.'),
      replicas: s.integer('int32').min(1).max(3).default(1).describe('The number of replicas.'),
      keepFor: s.duration().min('10m').max('336h').default('72h').describe('The lifetime, counted from the creation.'),
    })
    .rule("self.replicas == 1 || self.keepFor <= duration('24h')", {
      message: 'a Preview with more than one replica is kept for at most 24h',
      fieldPath: '.keepFor',
    })
    .describe('The desired state.'),
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z][-a-z0-9]{0,49}$')",
      message: 'the name must start with a letter, and have at most 50 lower-case letters, digits and dashes',
    },
  ],
  status: s.object({
    url: s.string().optional().describe('The URL of the application.'),
    expiresAt: s.dateTime().optional().describe('The time when the Preview is deleted.'),
  }),
  columns: [
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'URL', path: '.status.url' },
    { name: 'Expires', path: '.status.expiresAt', type: 'string', priority: 1 },
  ],
});

/** Preview is the type of the object. */
export type Preview = ObjectOf<typeof Preview>;
