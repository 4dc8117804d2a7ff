import { keyOf, keyString } from '@bowline/kubernetes';
import { describeProblems } from '@bowline/machinery';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS, MANAGER, OPERATOR } from '../api/names.ts';
import { secretNameOf } from '../secret/delivered-secret.ts';
import { belongsTo, ownDeployments } from '../secret/parent.ts';
import { SECRET_ANNOTATIONS } from '../secret/secrets.ts';
import type { Found } from './find-objects.ts';
import type { PlannedStep } from './step.ts';
import { planStatus } from './stored-status.ts';

/** planSecrets returns what users have to do so that their HSMSecrets are delivered. No Secret is changed. */
export function planSecrets(found: Found): readonly PlannedStep[] {
  const { secrets } = found;
  return [
    ...secrets.flatMap(planValidity),
    ...secrets.filter((secret) => !isOfOther(secret, found)).flatMap((secret) => planStatus(HSMSecret, secret)),
    ...planParents(found),
    ...secrets.flatMap((secret) => planDelivered(secret, found)),
  ];
}

/** The status is not checked: the manager writes it again. */
function planValidity(secret: HSMSecret): readonly PlannedStep[] {
  const problems = HSMSecret.validate(secret).filter(({ field }) => !field.startsWith('status'));
  if (problems.length === 0) return [];
  const next = `correct it with kubectl edit hsmsecret ${secret.metadata?.name} -n ${secret.metadata?.namespace}`;
  const action = `is not valid: ${describeProblems(problems)}`;
  return [{ state: 'blocked', object: `HSMSecret ${keyString(keyOf(secret))}`, action, next }];
}

const SECRET_MANAGER = fieldManagerOf(OPERATOR, 'secret');

/** HSMSecrets of the older operator name its Deployment as their parent; see the setting parentRefs. */
function planParents(found: Found): readonly PlannedStep[] {
  const parents = new Map<string, number>();
  for (const secret of found.secrets) {
    const parent = parentOf(secret, found);
    const isServed = secret.metadata?.managedFields?.some(({ manager }) => manager === SECRET_MANAGER);
    if (parent === undefined || isServed || isOfOther(secret, found)) continue;
    parents.set(parent, (parents.get(parent) ?? 0) + 1);
  }
  return [...parents].map(([parent, count]) => {
    const [namespace, name] = parent.split('/');
    return {
      state: 'blocked',
      object: `HSMSecrets with parentRef ${parent}`,
      action: `${count} ${count === 1 ? 'HSMSecret is' : 'HSMSecrets are'} not delivered until the setting parentRefs names this Deployment`,
      next: `add { name: ${name}, namespace: ${namespace} } to parentRefs in the section hsm-secrets of the configuration`,
    };
  });
}

/** parentOf returns the parent of an HSMSecret, as `namespace/name`; undefined if it is the manager. */
function parentOf(stored: HSMSecret, { managerNamespace }: Found): string | undefined {
  // Objects of older definitions lack the current defaults.
  const secret = HSMSecret.withDefaults(stored);
  const { parentRef } = secret.spec;
  if (parentRef === undefined || belongsTo(secret, ownDeployments(managerNamespace))) return undefined;
  return `${parentRef.namespace ?? secret.metadata?.namespace}/${parentRef.name}`;
}

/** A Deployment that exists, and is not that of the older operator, serves HSMSecrets of its own. */
function isOfOther(secret: HSMSecret, found: Found): boolean {
  const parent = parentOf(secret, found);
  if (parent === undefined || found.managers.some((manager) => keyString(keyOf(manager)) === parent)) return false;
  return found.deployments.has(parent) || (secret.spec.parentRef?.kind ?? 'Deployment') !== 'Deployment';
}

/** A Secret that the older operator delivered is not written by this one unless its user hands it over. */
function planDelivered(secret: HSMSecret, { delivered }: Found): readonly PlannedStep[] {
  const { namespace, name = '', uid } = secret.metadata ?? {};
  const target = delivered.find((each) => keyString(keyOf(each)) === `${namespace}/${secretNameOf(secret)}`)?.metadata;
  const isOfHSMSecret = target?.ownerReferences?.some((owner) => owner.uid === uid);
  if (!target || !isOfHSMSecret || target.labels?.[LABELS.managedBy] === MANAGER) return [];
  const where = `secret ${target.name} -n ${namespace}`;
  return [
    {
      state: 'optional',
      object: `Secret ${namespace}/${target.name}`,
      action: `was delivered by the older operator, and is kept as it is; the HSMSecret ${name} does not write it`,
      next: `to hand it over: kubectl label ${where} --overwrite ${LABELS.managedBy}=${MANAGER} && kubectl annotate ${where} ${SECRET_ANNOTATIONS.owner}=${name}`,
    },
  ];
}
