import { s } from '@bowline/runtime/resource';

/** DEFAULT_EXCLUDED are the namespaces that a selector excludes by default. */
export const DEFAULT_EXCLUDED = ['kube-system', 'kube-public', 'kube-node-lease'] as const;

/** The keys of ConfigMaps, as the API server validates them. */
const KEY = '^[-._a-zA-Z0-9]+$';

const key = () => s.string().minLength(1).maxLength(253).pattern(KEY);
const globs = (maxItems = 64) => s.array(s.string().minLength(1).maxLength(253)).maxItems(maxItems).listType('atomic');

const transform = s
  .object({
    rename: s
      .object({ from: key().describe('The key, literally.'), to: key().describe('Its new name.') })
      .describe('Gives a key another name. It is left out where the source has no such key.')
      .optional(),
    prefix: s.string().minLength(1).maxLength(253).pattern(KEY).describe('Stands before every key.').optional(),
    suffix: s.string().minLength(1).maxLength(253).pattern(KEY).describe('Stands after every key.').optional(),
    set: s
      .object({ key: key(), value: s.string().maxLength(1_048_576) })
      .describe('Gives a key a fixed value, new or not.')
      .optional(),
    remove: s.object({ key: key() }).describe('Leaves a key out.').optional(),
    replace: s
      .object({
        keys: globs().default(['*']).describe('The keys whose values are looked at, as globs.'),
        pattern: s.string().minLength(1).maxLength(1024).describe('A regular expression in RE2 syntax.'),
        replacement: s.string().maxLength(65_536).describe('What every match becomes; `$1` is its first group.'),
      })
      .describe('Replaces every match of a regular expression in values. Binary values are left alone.')
      .optional(),
    template: s
      .object({
        key: key(),
        template: s.string().maxLength(262_144).describe('Text; `{{ data.key }}` holds a CEL expression over `data`.'),
      })
      .describe('Gives a key a value made of others.')
      .optional(),
  })
  .exactlyOneOf('rename', 'prefix', 'suffix', 'set', 'remove', 'replace', 'template');

const RESERVED_RULE =
  "self.all(key, !key.matches('^([^/]*[.])?bowline[.]dev/|^app[.]kubernetes[.]io/managed-by$|^kubectl[.]kubernetes[.]io/'))";
const RESERVED = {
  message:
    'names under bowline.dev/ and kubectl.kubernetes.io/, and app.kubernetes.io/managed-by, are reserved; choose others',
};

const metadata = s.object({
  labels: s
    .map(s.string().maxLength(63).pattern('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'))
    .maxProperties(64)
    .rule(RESERVED_RULE, RESERVED)
    .describe('Labels of every copy.')
    .optional(),
  annotations: s
    .map(s.string().maxLength(16_384))
    .maxProperties(64)
    .rule(RESERVED_RULE, RESERVED)
    .describe('Annotations of every copy.')
    .optional(),
  copyLabels: globs()
    .describe('Labels of the source that copies get too, as globs over their names. Defaults to none.')
    .optional(),
  copyAnnotations: globs()
    .describe('Annotations of the source that copies get too, as globs over their names. Defaults to none.')
    .optional(),
});

const destination = s.object({
  namespace: s.dnsLabel(),
  // The API server refuses an optional key of a list map, so an empty name means no name.
  name: s
    .string()
    .maxLength(253)
    .pattern('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$')
    .default('')
    .describe('The name of this copy. Empty means targetName.'),
});

const TARGET_NAME = '(has(self.targetName) ? self.targetName : self.configMapName)';
const NOT_ITSELF = { message: 'a ConfigMap cannot be its own copy; choose another namespace or another name' };

/** spec is the schema of the spec of a ConfigMapSync. */
export const spec = s
  .object({
    sourceNamespace: s.dnsLabel().describe('The namespace of the ConfigMap to copy.'),
    configMapName: s.dnsSubdomain().describe('The name of the ConfigMap to copy.'),
    destinationNamespace: s.dnsLabel().describe('A namespace that gets a copy.').optional(),
    destinations: s
      .array(destination)
      .maxItems(256)
      .listMapBy('namespace', 'name')
      .describe('Namespaces that get a copy, each under a name of its own if wanted.')
      .optional(),
    destinationSelector: s
      .labelSelector()
      .describe('Every namespace with these labels gets a copy, now and later. An empty selector means all namespaces.')
      .optional(),
    excludeNamespaces: globs(256)
      .default([...DEFAULT_EXCLUDED])
      .describe('Namespaces that the selector leaves out, as globs. A list of your own replaces the default.'),
    targetName: s.dnsSubdomain().describe('The name of the copies. Defaults to configMapName.').optional(),
    keys: s
      .object({
        include: globs(256).describe('Globs of the keys to copy. Defaults to all.').optional(),
        exclude: globs(256).describe('Globs of the keys to leave out. Defaults to none.').optional(),
      })
      .describe('Which keys are copied.')
      .optional(),
    transforms: s
      .array(transform)
      .maxItems(64)
      .listType('atomic')
      .describe('What is changed on the way, in this order, after the choice of keys.')
      .optional(),
    metadata: metadata.describe('Labels and annotations of the copies.').optional(),
    direction: s
      .enum(['OneWay', 'Bidirectional'])
      .default('OneWay')
      .describe('Bidirectional keeps both ConfigMaps the same, whichever is edited.'),
    conflictPolicy: s
      .enum(['SourceWins', 'SkipIfModified', 'Merge', 'NewestWins', 'Manual'])
      .default('SourceWins')
      .describe(
        'What happens to a copy that somebody else changed. SourceWins repairs it, SkipIfModified leaves it alone and reports it, Merge keeps the keys of others. NewestWins and Manual are for Bidirectional: the side that was written last, or a decision by annotation.',
      ),
    deletionPolicy: s
      .enum(['Delete', 'Orphan'])
      .default('Delete')
      .describe(
        'What happens to copies that are no longer asked for. Objects that were there before are never deleted.',
      ),
    sourceDeletionPolicy: s
      .enum(['Retain', 'Delete'])
      .default('Retain')
      .describe('What happens to copies when the source is deleted.'),
    adoptExisting: s
      .boolean()
      .default(true)
      .describe('Whether a ConfigMap that is there already is taken over. Its content is saved beside it first.'),
    syncInterval: s
      .duration()
      .rule("self == duration('0s') || self >= duration('10s')", { message: 'must be 0 or at least 10s' })
      .default('10m')
      .describe('How often everything is looked at even if nothing happens. 0 means never.'),
    serviceAccountName: s
      .dnsSubdomain()
      .describe(
        'An account of this namespace: what it may not read or write is not synced. Defaults to the rights of the author.',
      )
      .optional(),
    paused: s.boolean().default(false).describe('Leaves everything as it is until it is false again.'),
  })
  .rule(
    'has(self.destinationNamespace) || has(self.destinationSelector) || (has(self.destinations) && self.destinations.size() > 0)',
    { message: 'a destination is missing; set destinationNamespace, destinations or destinationSelector' },
  )
  .rule(
    `!has(self.destinationNamespace) || self.destinationNamespace != self.sourceNamespace || ${TARGET_NAME} != self.configMapName`,
    { ...NOT_ITSELF, fieldPath: '.destinationNamespace' },
  )
  .rule(
    `!has(self.destinations) || self.destinations.all(each, each.namespace != self.sourceNamespace || (each.name != '' ? each.name : ${TARGET_NAME}) != self.configMapName)`,
    { ...NOT_ITSELF, fieldPath: '.destinations' },
  )
  .rule("self.direction != 'Bidirectional' || !has(self.transforms) || self.transforms.size() == 0", {
    message: 'Bidirectional cannot undo transforms; remove them, or sync OneWay',
    fieldPath: '.transforms',
  })
  .rule("self.direction != 'Bidirectional' || !has(self.keys)", {
    message: 'Bidirectional syncs all keys; remove keys, or sync OneWay',
    fieldPath: '.keys',
  })
  .rule(
    "self.direction != 'Bidirectional' || (!has(self.destinationSelector) && (has(self.destinationNamespace) ? 1 : 0) + (has(self.destinations) ? self.destinations.size() : 0) == 1)",
    { message: 'Bidirectional needs exactly one destination, by name', fieldPath: '.direction' },
  )
  .rule("self.direction == 'Bidirectional' || !(self.conflictPolicy in ['NewestWins', 'Manual'])", {
    message: 'NewestWins and Manual need direction Bidirectional; use SourceWins, SkipIfModified or Merge',
    fieldPath: '.conflictPolicy',
  });
