import { type Read, s } from '@bowline/machinery/schema';

const text = (limit: number) => s.string().minLength(1).maxLength(limit);

/**
 * entrySchema is one requested secret, as an entry of a pod's annotation. Rules between fields are checked separately.
 */
export const entrySchema = s.object({
  provider: s.string().describe('The name of the store, for example aws-secretsmanager.'),
  path: text(2_048).describe('The path of the secret, in the format of the store.'),
  secretName: text(253).describe('The name of the Secret to write.'),
  // A list or a map: see keyListSchema and keyMapSchema.
  keys: s
    .unknown()
    .describe(
      'The keys of the Secret: a list of keys of the source, or a map from keys of the Secret to keys of the source. Defaults to all keys.',
    )
    .optional(),
  optionalKeys: s
    .array(text(2_048))
    .minItems(1)
    .listType('set')
    .describe('Keys of the source that may be missing.')
    .optional(),
  missingKeyPolicy: s
    .enum(['Fail', 'Ignore'])
    .default('Fail')
    .describe('What happens if a key of the source is missing or null.'),
  versionStage: text(256)
    .describe('The staging label of the version to read. Defaults to the current version.')
    .optional(),
  versionId: text(256).describe('The version to read.').optional(),
  type: text(317).default('Opaque').describe('The type of the Secret.'),
  format: s
    .enum(['json', 'raw', 'binary'])
    .default('json')
    .describe('The format of the secret: a JSON object, text, or bytes.'),
  key: text(253).describe('The key of the Secret for the value of a raw or binary secret.').optional(),
  decode: s
    .enum(['None', 'Base64', 'Base64URL', 'Auto'])
    .default('None')
    .describe('How values are encoded in the store.'),
  template: s
    .map(s.string())
    .minProperties(1)
    .describe('Values by key, composed with CEL expressions in {{ }} over data. The Secret then has only these keys.')
    .optional(),
  creationPolicy: s
    .enum(['Create', 'Merge', 'CreateOrMerge'])
    .default('Create')
    .describe('Whether JASM manages the whole Secret, or merges keys into a Secret of another owner that allows it.'),
  deletionPolicy: s
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe('What happens to the Secret when no pod requests it any more.'),
  refreshInterval: text(64)
    .default('0')
    .describe('The interval at which the source is checked again: at least 1m, or 0 for never.'),
  immutable: s
    .boolean()
    .default(false)
    .describe('Whether the Secret is immutable: it is written once and never updated.'),
  region: text(63)
    .describe('The region of the store. Defaults to the region in the configuration of the operator.')
    .optional(),
  role: text(2_048)
    .describe('The role to read with. Defaults to the role in the configuration of the operator.')
    .optional(),
  restart: s.boolean().describe('Whether the workload is restarted when the content changes.').optional(),
});

/** Entry is an entry that matches the schema, with defaults. */
export type Entry = Read<typeof entrySchema>;

/** keyListSchema is `keys` as a list: keys of the source that the Secret gets under the same name. */
export const keyListSchema = s.array(text(253)).minItems(1).listType('set');

/** keyMapSchema is `keys` as a map: from keys of the Secret to keys of the source. */
export const keyMapSchema = s.map(text(2_048)).minProperties(1);
