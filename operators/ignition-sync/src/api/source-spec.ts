import { s } from '@bowline/runtime/resource';
import { RELATIVE_PATH } from '../checks/relative-path.ts';
import { GLOB, JSON_PATH } from '../checks/text-limits.ts';
import { checkedText } from './checked-text.ts';

/** relativePath returns the schema of a path in the repository or on the gateway. */
export const relativePath = () => checkedText(RELATIVE_PATH);

/** excludePatterns returns the schema of the patterns of files that are not synced. */
export const excludePatterns = () => s.array(checkedText(GLOB)).maxItems(256).listType('atomic');

/** valueTemplate returns the schema of a value with template variables. */
export const valueTemplate = () => s.string().maxLength(1024);

/** pruneMode returns the schema of what a sync deletes. */
export const pruneMode = () => s.enum(['Managed', 'All', 'None']);

/** driftMode returns the schema of what happens to files that were changed on the gateway. */
export const driftMode = () => s.enum(['Report', 'Restore']);

const enabled = () => s.boolean().default(false);

const SOURCE_NEEDED = '!self.enabled || has(self.source)';
const sourceNeeded = (name: string) =>
  ({
    message: `shared.${name}.source is missing; set it to the path in the repository, or set enabled to false`,
    fieldPath: '.source',
  }) as const;

const externalResourcesSpec = s
  .object({
    enabled: enabled().describe('Whether external resources are synced.'),
    source: relativePath().describe('The path in the repository.').optional(),
    createFallback: s
      .boolean()
      .default(false)
      .describe('Whether an empty config-mode.json is placed if the source does not exist.'),
  })
  .rule(SOURCE_NEEDED, sourceNeeded('externalResources'));

const scriptsSpec = s
  .object({
    enabled: enabled().describe('Whether shared scripts are synced into every project of the gateway.'),
    source: relativePath().describe('The path in the repository.').optional(),
    destPath: relativePath().describe('The path in each project. Defaults to ignition/script-python.').optional(),
  })
  .rule(SOURCE_NEEDED, sourceNeeded('scripts'));

const udtsSpec = s
  .object({
    enabled: enabled().describe('Whether shared UDT definitions are synced.'),
    source: relativePath().describe('The path in the repository.').optional(),
  })
  .rule(SOURCE_NEEDED, sourceNeeded('udts'));

/** sharedSpec is the schema of what all gateways of an IgnitionSync get. */
export const sharedSpec = s.object({
  externalResources: externalResourcesSpec.describe('Placed in config/resources/external.').optional(),
  scripts: scriptsSpec.describe('Placed in every project of the gateway.').optional(),
  udts: udtsSpec.describe('Placed in the tag type definitions of the tag provider of the gateway.').optional(),
});

/** additionalFile is the schema of any other file or folder. */
export const additionalFile = s.object({
  source: relativePath().describe('The path in the repository.'),
  dest: relativePath().describe('The path in the data folder of the gateway.'),
  type: s.enum(['file', 'dir']).default('file').describe('Whether it is a file or a folder.'),
});

const fieldReplacement = s.object({
  jsonPath: checkedText(JSON_PATH).describe('The path of the value in config.json: .name and [number] parts.'),
  valueTemplate: valueTemplate().describe('The new value, with template variables such as {{.GatewayName}}.'),
});

/** normalizeSpec is the schema of what is changed in the config.json files of a gateway. */
export const normalizeSpec = s.object({
  systemName: s.boolean().default(false).describe('Whether systemName is set to the system name of the gateway.'),
  fields: s.array(fieldReplacement).maxItems(32).listType('atomic').describe('Further values.').optional(),
});
