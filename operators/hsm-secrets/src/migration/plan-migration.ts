import { keyOf, keyString } from '@bowline/kubernetes';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import type { Found } from './find-objects.ts';
import { isRunning } from './older-workloads.ts';
import { later, planDevices, planSaves } from './plan-devices.ts';
import { planLeftovers } from './plan-leftovers.ts';
import { planSecrets } from './plan-secrets.ts';
import type { PlannedStep } from './step.ts';

/** PlanOptions configures a plan. */
export interface PlanOptions {
  /** Whether workloads of the older operator are deleted. */
  readonly deleteOld: boolean;
}

/** TAKE_OVER is the command that installs the current definitions, or takes over those of another owner. */
const TAKE_OVER = 'bowline crds --operators hsm-secrets | kubectl apply --server-side --force-conflicts -f -';

/**
 * planMigration returns the steps that are left, in order. It is a pure function of the cluster: what an interrupted
 * run did is no longer in the plan of the next one.
 */
export function planMigration(found: Found, options: PlanOptions): readonly PlannedStep[] {
  const managers = planManagers(found);
  const isForeign = found.definitions.some(({ state }) => state === 'foreign');
  const saves = isForeign ? planSaves(found) : [];
  const definitions = planDefinitions(found, saves.length === 0);
  const objects = [...planDevices(found), ...planSecrets(found), ...planLeftovers(found, options)];
  return [
    ...managers,
    ...gated(saves, managers.length === 0),
    ...gated(definitions, managers.length === 0),
    ...gated(objects, managers.length === 0 && definitions.length === 0),
  ];
}

/** gated returns steps of which only those for people can be done while a gate is closed. */
function gated(steps: readonly PlannedStep[], isOpen: boolean): readonly PlannedStep[] {
  return isOpen ? steps : steps.map((step) => (step.state === 'blocked' ? step : later(step)));
}

/** Two operators would write the same objects, and revert each other. */
function planManagers({ managers }: Found): readonly PlannedStep[] {
  return managers.filter(isRunning).map((manager) => ({
    state: 'blocked',
    object: `Deployment ${keyString(keyOf(manager))}`,
    action: 'the older operator runs',
    next: `kubectl scale deployment ${manager.metadata?.name} -n ${manager.metadata?.namespace} --replicas=0`,
  }));
}

/** A definition is never written by this command: with it, all objects of the kind change their form. */
function planDefinitions(found: Found, isSaved: boolean): readonly PlannedStep[] {
  return found.definitions.flatMap(({ name, kind, state, helmRelease }): readonly PlannedStep[] => {
    if (state === 'ours') return [];
    const object = `CustomResourceDefinition ${name}`;
    if (state === 'missing') return [{ state: 'blocked', object, action: 'is missing', next: TAKE_OVER }];
    const lost = lostFields(kind, found);
    const action = [
      'belongs to another owner',
      ...(lost.length > 0 ? [`taking it over drops ${lost.join(', ')}`] : []),
      ...(helmRelease
        ? [`do not uninstall the Helm release ${helmRelease}, which would delete it with all objects`]
        : []),
    ].join('; ');
    return [
      isSaved ? { state: 'blocked', object, action, next: TAKE_OVER } : later({ state: 'planned', object, action }),
    ];
  });
}

const MAX_LISTED = 10;

/** These are dropped on purpose, or saved before. */
const EXPECTED = /^(?:status(?:\.|$)|spec\.(?:discovery\.usb\.|pkcs11LibraryPath$|hsmDeviceRefs))/;

/** lostFields returns the fields of objects that the current definition does not have. */
function lostFields(kind: string, { devices, pools, secrets }: Found): readonly string[] {
  const unknown = [
    ...(kind === HSMDevice.kind ? devices.map((each) => ({ each, fields: HSMDevice.unknownFields(each) })) : []),
    ...(kind === HSMPool.kind ? pools.map((each) => ({ each, fields: HSMPool.unknownFields(each) })) : []),
    ...(kind === HSMSecret.kind ? secrets.map((each) => ({ each, fields: HSMSecret.unknownFields(each) })) : []),
  ];
  const lost = unknown.flatMap(({ each, fields }) =>
    fields.filter((field) => !EXPECTED.test(field)).map((field) => `${field} of ${keyString(keyOf(each))}`),
  );
  const more = lost.length - MAX_LISTED;
  return more > 0 ? [...lost.slice(0, MAX_LISTED), `${more} more fields`] : lost;
}
