import type { CSIDriver } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { canonicalJson } from '@bowline/machinery';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, IMMUTABLE, invalid, notSupported } from '../shared/problems.ts';

type Spec = NonNullable<PartialObject<CSIDriver>['spec']>;

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const MODES = ['Persistent', 'Ephemeral'];
/** Tokens are valid for at least ten minutes, wherever they are requested. */
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_SECONDS = 10;
const TOKENS_MAY_LEAK =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

/** csiDriverRules validates how volumes of a driver are mounted. This server mounts no volumes. */
export const csiDriverRules: KindRules = {
  returnsDeletedObject: true,
  // prepareForUpdate counts the generation, because a new driver has none.
  countsGeneration: false,
  prepareForUpdate(object, old) {
    if (!isSame(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  applyDefaults(object) {
    const driver = as<CSIDriver>(object);
    driver.spec ??= {};
    const { spec } = driver;
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
    if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent'];
  },
  validate(object, old) {
    const spec = as<CSIDriver>(object).spec ?? {};
    const before = old ? as<CSIDriver>(old).spec : undefined;
    return [...specProblems(spec), ...changeProblems(spec, before)];
  },
  warningsOf(object, old) {
    const { tokenRequests = [], serviceAccountTokenInSecrets } = as<CSIDriver>(object).spec ?? {};
    if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
    return old && isSame(tokenRequests, as<CSIDriver>(old).spec?.tokenRequests) ? [] : [TOKENS_MAY_LEAK];
  },
  columns: [
    boolean('AttachRequired', 'Whether volumes must be attached before they are mounted.', 'attachRequired'),
    boolean('PodInfoOnMount', 'Whether the driver receives information about the pod on mount.', 'podInfoOnMount'),
    boolean('StorageCapacity', 'Whether pod scheduling considers storage capacity.', 'storageCapacity'),
    column('TokenRequests', 'Audiences of the ServiceAccount tokens.', (object) => {
      const requests = as<CSIDriver>(object).spec?.tokenRequests ?? [];
      return requests.map(({ audience }) => audience ?? '').join(',') || '<unset>';
    }),
    boolean('RequiresRepublish', 'Whether volumes are republished periodically.', 'requiresRepublish'),
    column('Modes', 'Volume lifecycle modes that the driver supports.', (object) => {
      return (as<CSIDriver>(object).spec?.volumeLifecycleModes ?? []).join(',') || '<none>';
    }),
    AGE,
  ],
};

function boolean(
  name: string,
  description: string,
  field: 'attachRequired' | 'podInfoOnMount' | 'storageCapacity' | 'requiresRepublish',
) {
  return column(name, description, (object) => as<CSIDriver>(object).spec?.[field] ?? false, { type: 'boolean' });
}

function specProblems(spec: Spec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { fsGroupPolicy = '', volumeLifecycleModes = [], tokenRequests = [] } = spec;
  if (!GROUP_POLICIES.includes(fsGroupPolicy))
    problems.push(notSupported('spec.fsGroupPolicy', fsGroupPolicy, GROUP_POLICIES));
  const audiences = new Set<string>();
  for (const [index, { audience = '', expirationSeconds }] of tokenRequests.entries()) {
    const field = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) {
      problems.push(duplicate(`${field}.audience`, audience));
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    const addProblem = (detail: string) =>
      problems.push(invalid(`${field}.expirationSeconds`, expirationSeconds, detail));
    if (expirationSeconds < MIN_TOKEN_SECONDS) addProblem('may not specify a duration less than 10 minutes');
    if (expirationSeconds > MAX_TOKEN_SECONDS) addProblem('may not specify a duration larger than 2^32 seconds');
  }
  for (const mode of volumeLifecycleModes)
    if (!MODES.includes(mode)) problems.push(notSupported('spec.volumeLifecycleModes', mode, MODES));
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period !== undefined && period < MIN_UPDATE_SECONDS) {
    const detail = `must be greater than or equal to ${MIN_UPDATE_SECONDS} seconds`;
    problems.push(invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, detail));
  }
  const inSecrets = spec.serviceAccountTokenInSecrets;
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    problems.push(invalid('spec.serviceAccountTokenInSecrets', inSecrets, detail));
  }
  return problems;
}

function changeProblems(spec: Spec, before: Spec | undefined): FieldProblem[] {
  if (!before) return [];
  // The API server spells the first field like this.
  const frozen = {
    attachRequired: 'spec.attachedRequired',
    volumeLifecycleModes: 'spec.volumeLifecycleModes',
  } as const;
  return (['attachRequired', 'volumeLifecycleModes'] as const).flatMap((field) => {
    return isSame(spec[field], before[field]) ? [] : [invalid(frozen[field], spec[field], IMMUTABLE)];
  });
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}
