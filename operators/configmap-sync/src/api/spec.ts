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
      .object({ from: key().describe('The key to rename.'), to: key().describe('The new name of the key.') })
      .describe('Renames a key. Has no effect if the source does not have the key.')
      .optional(),
    prefix: s.string().minLength(1).maxLength(253).pattern(KEY).describe('A prefix for every key.').optional(),
    suffix: s.string().minLength(1).maxLength(253).pattern(KEY).describe('A suffix for every key.').optional(),
    set: s
      .object({ key: key(), value: s.string().maxLength(1_048_576) })
      .describe('Sets a key to a fixed value, whether or not the source has the key.')
      .optional(),
    remove: s.object({ key: key() }).describe('Removes a key.').optional(),
    replace: s
      .object({
        keys: globs().default(['*']).describe('Globs of the keys in whose values matches are replaced.'),
        pattern: s.string().minLength(1).maxLength(1024).describe('A regular expression in RE2 syntax.'),
        replacement: s.string().maxLength(65_536).describe('The replacement of every match; `$1` is its first group.'),
      })
      .describe('Replaces every match of a regular expression in values. Binary values are not changed.')
      .optional(),
    template: s
      .object({
        key: key(),
        template: s
          .string()
          .maxLength(262_144)
          .describe('The template text; `{{ data.key }}` contains a CEL expression over `data`.'),
      })
      .describe('Sets a key to a value composed from other keys.')
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
    .describe('Labels to set on every copy.')
    .optional(),
  annotations: s
    .map(s.string().maxLength(16_384))
    .maxProperties(64)
    .rule(RESERVED_RULE, RESERVED)
    .describe('Annotations to set on every copy.')
    .optional(),
  copyLabels: globs()
    .describe('Globs of the names of the labels to copy from the source. Defaults to none.')
    .optional(),
  copyAnnotations: globs()
    .describe('Globs of the names of the annotations to copy from the source. Defaults to none.')
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
    .describe('The name of this copy. Defaults to targetName.'),
});

const TARGET_NAME = '(has(self.targetName) ? self.targetName : self.configMapName)';
const NOT_ITSELF = { message: 'a ConfigMap cannot be its own copy; choose another namespace or another name' };

/** spec is the schema of the spec of a ConfigMapSync. */
export const spec = s
  .object({
    sourceNamespace: s.dnsLabel().describe('The namespace of the ConfigMap to copy.'),
    configMapName: s.dnsSubdomain().describe('The name of the ConfigMap to copy.'),
    destinationNamespace: s.dnsLabel().describe('A namespace to copy to.').optional(),
    destinations: s
      .array(destination)
      .maxItems(256)
      .listMapBy('namespace', 'name')
      .describe('Namespaces to copy to, each with an optional name for its copy.')
      .optional(),
    destinationSelector: s
      .labelSelector()
      .describe(
        'Selects the namespaces to copy to by their labels, including namespaces that are created or relabeled later. An empty selector matches all namespaces.',
      )
      .optional(),
    excludeNamespaces: globs(256)
      .default([...DEFAULT_EXCLUDED])
      .describe('Globs of the namespaces that destinationSelector excludes. A list that you set replaces the default.'),
    targetName: s.dnsSubdomain().describe('The name of the copies. Defaults to configMapName.').optional(),
    keys: s
      .object({
        include: globs(256).describe('Globs of the keys to copy. Defaults to all.').optional(),
        exclude: globs(256).describe('Globs of the keys to exclude. Defaults to none.').optional(),
      })
      .describe('The keys to copy. Defaults to all.')
      .optional(),
    transforms: s
      .array(transform)
      .maxItems(64)
      .listType('atomic')
      .describe('Changes to the copied keys and values, applied in order after the keys are selected.')
      .optional(),
    metadata: metadata.describe('Labels and annotations of the copies.').optional(),
    direction: s
      .enum(['OneWay', 'Bidirectional'])
      .default('OneWay')
      .describe(
        'OneWay copies the source to its destinations. Bidirectional keeps both ConfigMaps identical, no matter which one is edited.',
      ),
    conflictPolicy: s
      .enum(['SourceWins', 'SkipIfModified', 'Merge', 'NewestWins', 'Manual'])
      .default('SourceWins')
      .describe(
        'What to do when another client changed a copy. SourceWins reverts the change, SkipIfModified keeps and reports it, Merge keeps keys that the source does not have. Only with Bidirectional: NewestWins uses the side that was written last, Manual waits for a decision by annotation.',
      ),
    deletionPolicy: s
      .enum(['Delete', 'Orphan'])
      .default('Delete')
      .describe(
        'What to do with copies that are no longer requested. ConfigMaps that existed before are never deleted.',
      ),
    sourceDeletionPolicy: s
      .enum(['Retain', 'Delete'])
      .default('Retain')
      .describe('What to do with the copies when the source is deleted.'),
    adoptExisting: s
      .boolean()
      .default(true)
      .describe('Whether to adopt a ConfigMap that already exists. Its content is saved to a backup ConfigMap first.'),
    syncInterval: s
      .duration()
      .rule("self == duration('0s') || self >= duration('10s')", { message: 'must be 0 or at least 10s' })
      .default('10m')
      .describe('How often to reconcile when nothing changes. 0 means never.'),
    serviceAccountName: s
      .dnsSubdomain()
      .describe('A ServiceAccount in this namespace. The sync needs its permissions instead of those of the author.')
      .optional(),
    paused: s.boolean().default(false).describe('Suspends the sync: nothing is read or written while it is true.'),
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
    message: 'transforms are not allowed with direction Bidirectional; remove them, or set direction to OneWay',
    fieldPath: '.transforms',
  })
  .rule("self.direction != 'Bidirectional' || !has(self.keys)", {
    message: 'keys is not allowed with direction Bidirectional; remove it, or set direction to OneWay',
    fieldPath: '.keys',
  })
  .rule(
    "self.direction != 'Bidirectional' || (!has(self.destinationSelector) && (has(self.destinationNamespace) ? 1 : 0) + (has(self.destinations) ? self.destinations.size() : 0) == 1)",
    { message: 'direction Bidirectional requires exactly one destination, specified by name', fieldPath: '.direction' },
  )
  .rule("self.direction == 'Bidirectional' || !(self.conflictPolicy in ['NewestWins', 'Manual'])", {
    message: 'NewestWins and Manual require direction Bidirectional; use SourceWins, SkipIfModified or Merge',
    fieldPath: '.conflictPolicy',
  });
