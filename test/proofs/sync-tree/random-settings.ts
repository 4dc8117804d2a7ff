import { pick, type Random } from '@bowline/machinery';
import type { Prune } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import {
  gatewayMappings,
  tagProviderPatterns,
} from '../../../operators/ignition-sync/src/engine/tree/gateway-mappings.ts';
import type { Mapping } from '../../../operators/ignition-sync/src/engine/tree/mapping.ts';

/** Layout is where the parts of a gateway are, as a pod without a profile declares it. */
export type Layout = Parameters<typeof gatewayMappings>[0];

/** Settings are the settings of a case. */
export interface Settings {
  /** Without it, `mappings` are those of a profile. */
  readonly layout: Layout | undefined;
  readonly mappings: readonly Mapping[];
  readonly patterns: readonly string[];
  readonly systemName: string | undefined;
  readonly fields: readonly { readonly jsonPath: string; readonly valueTemplate: string }[];
  readonly prune: Prune;
  readonly maxFiles: number;
}

/** VARIABLES are the template variables of all cases. */
export const VARIABLES = {
  gatewayName: 'gw-1',
  namespace: 'plant',
  commit: 'c0ffee',
  vars: { site: 'Zürich "N"', empty: '' },
  labels: { 'app/name': 'ignition' },
} as const;

const PATTERNS = [
  '**/.git/',
  '**/.gitkeep',
  '**/.resources/**',
  '**/data.txt',
  '*.txt',
  'projects/overview/',
  '**/views/',
  'config/**',
  'projects/*/code.py',
  'projects/?ine-1/**',
  '**/folder/**',
  'projects/line-1/views/main/view.json',
  '**',
  'no/such/path',
  '**/nested',
];
const SOURCES = [
  'services/site',
  'services/site/projects',
  'services/site/config',
  'shared/scripts',
  'shared/udts',
  'extra',
  'extra/deep',
  'services/site/projects/overview/project.json',
  'extra/data.txt',
  'no/such/source',
  '.',
  'services/{{.Vars.empty}}area',
];
const DESTINATIONS = [
  'projects',
  'projects/overview',
  'config/resources/core',
  'config/resources/external',
  'modules/{{.GatewayName}}',
  'root.txt',
  'projects/line-1/project.json',
  'projects/overview/views',
  'top',
];
const HOSTILE = ['../outside', '/etc', '.', 'a/../..', 'a//b', 'x:y', '{{.Nope}}'];
const PATCHES = [
  { file: '**/config.json', set: { '.settings.port': '8043' } },
  { file: '**/config.json', set: { '.title': 'set {{.GatewayName}}', '.enabled': 'true' } },
  { file: '*.json', set: { '.created': 'new' } },
  { file: '**/view.json', set: { '.settings.created': 'x', '.list[0]': '7' } },
];

/** randomSettings returns the settings of a sync. */
export function randomSettings(random: Random, hostility: number): Settings {
  const chance = (share: number): boolean => random.next() < share;
  const isProfile = chance(0.5);
  const layout = isProfile ? undefined : randomLayout(random, hostility);
  const mappings = layout === undefined ? randomMappings(random, hostility) : gatewayMappings(layout);
  const providers = chance(0.1) ? tagProviderPatterns(['plant']) : [];
  return {
    layout,
    mappings,
    patterns: [...PATTERNS.filter((_, index) => chance(index === 12 ? 0.02 : 0.12)), ...providers],
    systemName: chance(0.5) ? pick(random, ['{{.GatewayName}}', 'fixed "name"', 'ü']) : undefined,
    fields: chance(0.15)
      ? [
          {
            jsonPath: pick(random, ['.settings.port', '.name', '.list[1]', '.enabled', '.no.where']),
            valueTemplate: pick(random, ['true', '12', 'x{{.GatewayName}}']),
          },
        ]
      : [],
    prune: pick(random, ['Managed', 'Managed', 'Managed', 'All', 'None']),
    maxFiles: chance(hostility) ? 3 : 50_000,
  };
}

function randomLayout(random: Random, hostility: number): Layout {
  const chance = (share: number): boolean => random.next() < share;
  return {
    servicePath: chance(hostility / 3) ? 'services/none' : chance(0.1) ? 'services/site/' : 'services/site',
    ...(chance(0.5) ? { deploymentMode: 'dev' } : {}),
    ...(chance(0.5)
      ? { externalResources: { source: pick(random, ['shared/external', 'no/such']), createFallback: chance(0.5) } }
      : {}),
    ...(chance(0.5)
      ? { scripts: { source: 'shared/scripts', ...(chance(0.5) ? { destPath: 'ignition/script-python/shared' } : {}) } }
      : {}),
    ...(chance(0.5) ? { udts: { source: 'shared/udts' } } : {}),
    ...(chance(0.3) ? { tagInheritanceStrategy: 'leaf-only' } : {}),
    ...(chance(0.5)
      ? {
          additionalFiles: [
            { source: 'extra/data.txt', dest: 'root.txt' },
            { source: 'extra', dest: 'modules/extra', type: 'dir' },
          ],
        }
      : {}),
  };
}

function randomMappings(random: Random, hostility: number): Mapping[] {
  const chance = (share: number): boolean => random.next() < share;
  return Array.from({ length: 1 + Math.floor(random.next() * 4) }, () => ({
    source: pick(random, SOURCES),
    destination: chance(hostility / 4) ? pick(random, HOSTILE) : pick(random, DESTINATIONS),
    ...(chance(0.2) ? { type: pick(random, ['dir', 'file'] as const) } : {}),
    ...(chance(0.1) ? { required: true } : {}),
    ...(chance(0.2) ? { template: true } : {}),
    ...(chance(0.2) ? { patches: [pick(random, PATCHES)] } : {}),
  }));
}
