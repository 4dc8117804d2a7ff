import type { StatefulSet, StatefulSetSpec } from '@bowline/kubernetes';
import { type FieldProblem, isSameJson } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { podTemplateDefaults } from '../core/pod/pod-defaults.ts';
import { claimSpecDefaults } from '../core/pod/volume-defaults.ts';
import { claimSpecProblems } from '../core/volume-claim-problems.ts';
import { AGE, as, CONTAINERS, column, IMAGES } from '../shared/column.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { forbidden, invalid, invalidStruct, notNegative, notSupported, required } from '../shared/problems.ts';
import { selectorStruct } from '../shared/scheduling-problems.ts';
import { statusDefaults, zeroes } from '../shared/status-defaults.ts';
import { dropZero } from '../shared/zero-values.ts';
import { scaleProjection } from './scale.ts';
import {
  isValidSelector,
  runningTemplateProblems,
  type Workload,
  workloadSelectorProblems,
} from './workload-problems.ts';

type Problems = FieldProblem[];
type Spec = PartialObject<StatefulSetSpec>;

/** The mutable fields of a StatefulSet. */
const MAY_CHANGE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;
const ONLY_THOSE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** statefulSetRules holds the rules of StatefulSets. */
export const statefulSetRules: KindRules = {
  applyDefaults(object) {
    const { spec = {}, status } = asStatefulSet(object);
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.serviceName ??= '';
    spec.podManagementPolicy ||= 'OrderedReady';
    dropZero(spec, 'minReadySeconds');
    const retention = partOf(spec, 'persistentVolumeClaimRetentionPolicy');
    retention.whenDeleted ||= 'Retain';
    retention.whenScaled ||= 'Retain';
    const strategy = partOf(spec, 'updateStrategy');
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') partOf(strategy, 'rollingUpdate').partition ??= 0;
    // This field is behind a feature gate that is off.
    if (strategy.rollingUpdate) strategy.rollingUpdate.maxUnavailable = undefined;
    podTemplateDefaults(partOf(spec, 'template'));
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion ||= 'v1';
      claim.kind ||= 'PersistentVolumeClaim';
      claim.metadata ??= {};
      claimSpecDefaults(partOf(claim, 'spec'));
      partOf(claim, 'status').phase ||= 'Pending';
    }
    zeroes(status, 'replicas', 'availableReplicas');
    if (status) dropZero(status, 'readyReplicas', 'currentReplicas', 'updatedReplicas');
    statusDefaults(status?.conditions, 'lastTransitionTime');
  },
  validate(object, old) {
    const { spec = {} } = asStatefulSet(object);
    const problems = specProblems(spec);
    if (old && !isSameJson(immutablePart(spec), immutablePart(asStatefulSet(old).spec ?? {}))) {
      problems.push(forbidden('spec', ONLY_THOSE));
    }
    return problems;
  },
  columns: [
    column('Ready', 'Number of ready pods out of the desired number.', (object) => {
      const { spec, status } = as<StatefulSet>(object);
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    AGE,
    CONTAINERS,
    IMAGES,
  ],
  subresources: { scale: () => ({ projection: scaleProjection() }) },
};

function asStatefulSet(object: Draft): PartialObject<StatefulSet> {
  // It was decoded with the schema of a StatefulSet.
  return object as PartialObject<StatefulSet>;
}

function immutablePart(spec: Spec): Spec {
  return { ...spec, ...Object.fromEntries(MAY_CHANGE.map((name) => [name, undefined])) };
}

function specProblems(spec: Spec): Problems {
  const { podManagementPolicy = '', persistentVolumeClaimRetentionPolicy: retention = {}, selector } = spec;
  const problems: Problems = [];
  if (!['OrderedReady', 'Parallel'].includes(podManagementPolicy)) {
    problems.push(invalid('spec.podManagementPolicy', podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  }
  problems.push(...strategyProblems(spec.updateStrategy ?? {}));
  for (const when of ['whenDeleted', 'whenScaled'] as const) {
    const policy = retention[when] ?? '';
    if (['Retain', 'Delete'].includes(policy)) continue;
    problems.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${when}`, policy, ['Retain', 'Delete']));
  }
  for (const [index, { spec: claim = {} }] of (spec.volumeClaimTemplates ?? []).entries()) {
    problems.push(...claimSpecProblems(`spec.volumeClaimTemplates[${index}].spec`, claim));
  }
  problems.push(
    ...notNegative('spec.replicas', spec.replicas),
    ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...notNegative('spec.ordinals.start', spec.ordinals?.start),
  );
  if (!selector) problems.push(required('spec.selector'));
  problems.push(...workloadSelectorProblems(spec, 'statefulset'));
  if (isValidSelector(selector)) problems.push(...runningTemplateProblems(withClaims(spec), 'StatefulSet'));
  else problems.push(brokenSelector(selector));
  return problems;
}

/**
 * withClaims returns the workload with the volumes that its pods will have: every claim is a volume too, and replaces
 * one of the same name.
 */
function withClaims(spec: Spec): Workload {
  const { volumeClaimTemplates = [], template = {} } = spec;
  const claims = volumeClaimTemplates.map(({ metadata }) => {
    const { name } = metadata ?? {};
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const names = new Set(claims.map(({ name }) => name));
  const volumes = (template.spec?.volumes ?? []).filter(({ name }) => !names.has(name));
  return {
    ...(spec as Workload),
    template: { ...template, spec: { ...template.spec, volumes: [...volumes, ...claims] } },
  };
}

/** The API server adds no detail to this message. */
function brokenSelector(selector: Spec['selector']): FieldProblem {
  const { message, ...rest } = invalidStruct('spec.selector', selectorStruct(selector), '');
  return { ...rest, message: message.replace(/: $/, '') };
}

function strategyProblems({
  type = '',
  rollingUpdate,
}: PartialObject<NonNullable<StatefulSetSpec['updateStrategy']>>): Problems {
  const at = 'spec.updateStrategy';
  switch (type) {
    case 'OnDelete': {
      if (!rollingUpdate) return [];
      const { partition = 0, maxUnavailable = null } = rollingUpdate;
      const value = { Partition: partition, MaxUnavailable: maxUnavailable };
      return [invalidStruct(`${at}.rollingUpdate`, value, "only allowed for updateStrategy 'RollingUpdate'")];
    }
    case 'RollingUpdate':
      return notNegative(`${at}.rollingUpdate.partition`, rollingUpdate?.partition);
    default:
      return [invalidStruct(at, { Type: type, RollingUpdate: null }, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}
