import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { GLOB, JSON_PATH } from '../checks/text-limits.ts';
import { VARIABLE_NAME } from '../templates/template-variables.ts';
import { checkedText } from './checked-text.ts';
import { designerSessionPolicy } from './gateway-spec.ts';
import { GROUP, VERSION } from './names.ts';
import { excludePatterns, relativePath, valueTemplate } from './source-spec.ts';

const [jsonPath] = JSON_PATH.checks;

const patch = s.object({
  file: checkedText(GLOB).describe('The files in the mapping, a glob.'),
  set: s
    .map(valueTemplate())
    .minProperties(1)
    .maxProperties(32)
    .rule(`self.all(path, path.matches(r'${jsonPath?.pattern}'))`, { message: `every key of set ${jsonPath?.message}` })
    .describe('New values by their JSON path, with template variables.'),
});

const mapping = s.object({
  source: relativePath().describe('The path in the repository, with template variables.'),
  destination: relativePath().describe('The path in the data folder of the gateway, with template variables.'),
  type: s.enum(['dir', 'file']).describe('Defaults to what the source is.').optional(),
  required: s.boolean().default(false).describe('Whether a missing source is an error. Otherwise it is ignored.'),
  template: s.boolean().default(false).describe('Whether template variables in the files are replaced.'),
  patches: s.array(patch).maxItems(16).listType('atomic').describe('Values that are set in JSON files.').optional(),
});

/** syncProfileSpec is the schema of the spec of a SyncProfile. */
export const syncProfileSpec = s.object({
  mappings: s
    .array(mapping)
    .minItems(1)
    .maxItems(64)
    .listType('atomic')
    .describe('What is synced, in order: later mappings replace files of earlier ones.'),
  excludePatterns: excludePatterns()
    .describe('Files that are not synced, in addition to those of the IgnitionSync.')
    .optional(),
  vars: s
    .map(valueTemplate())
    .maxProperties(64)
    .rule(`self.all(name, name.matches(r'${VARIABLE_NAME}'))`, {
      message:
        'every name in vars must consist of letters, digits and "_", and must not begin with a digit; rename the variable',
    })
    .describe('The values of the template variables Vars.NAME.')
    .optional(),
  syncPeriod: s
    .integer('int32')
    .min(5)
    .max(3600)
    .default(30)
    .describe('How often an agent compares its state, in seconds, in addition to each change.'),
  dryRun: s.boolean().default(false).describe('Whether changes are only reported.'),
  paused: s.boolean().default(false).describe('Whether the gateways of the profile are not synced.'),
  designerSessionPolicy: designerSessionPolicy()
    .describe('What a sync does while a Designer has a changed project open. Defaults to that of the IgnitionSync.')
    .optional(),
  deploymentMode: s
    .object({
      name: s.string().minLength(1).maxLength(63).describe('The deployment mode of the gateway.'),
      source: relativePath().describe('The path in the repository.'),
    })
    .describe('Placed last, onto config/resources/core. Defaults to none.')
    .optional(),
  dependsOn: s
    .array(s.object({ profileName: s.dnsSubdomain().describe('The name of a SyncProfile in the same namespace.') }))
    .maxItems(64)
    .listMapBy('profileName')
    .describe('Profiles whose gateways are synced before.')
    .optional(),
});

const status = s.object({
  gatewayCount: s.integer('int32').min(0).describe('The number of gateways that use the profile.').optional(),
});

const ACCEPTED = '.status.conditions[?(@.type=="Accepted")]';

/** SyncProfile is the resource: which files of the repository the gateways that name it get. */
export const SyncProfile = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'SyncProfile',
  scope: 'Namespaced',
  shortNames: ['sp'],
  categories: ['bowline'],
  description: 'SyncProfile holds which files of a repository are synced to the gateways that name it.',
  spec: syncProfileSpec,
  status,
  columns: [
    { name: 'Gateways', path: '.status.gatewayCount' },
    { name: 'Accepted', path: `${ACCEPTED}.status` },
    { name: 'Reason', path: `${ACCEPTED}.reason`, priority: 1 },
    { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' },
  ],
});

/** SyncProfile is the type of the object. */
export type SyncProfile = ObjectOf<typeof SyncProfile>;
