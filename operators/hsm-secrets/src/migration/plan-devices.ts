import { type DaemonSet, keyOf, keyString } from '@bowline/kubernetes';
import { describeProblems, isSameJson } from '@bowline/machinery';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { discoveryName, OPERATOR, poolName } from '../api/names.ts';
import { desiredDaemonSet } from '../device/desired-daemon-set.ts';
import type { Found } from './find-objects.ts';
import { fieldsToSave, rewriteDevice } from './older-device.ts';
import { isOlderDiscovery } from './older-workloads.ts';
import type { PlannedStep } from './step.ts';
import { planStatus } from './stored-status.ts';

/** planSaves returns the steps that keep fields which the current definitions hide, before these are applied. */
export function planSaves({ devices }: Pick<Found, 'devices'>): readonly PlannedStep[] {
  return devices.filter(isKept).flatMap((device) => {
    const saved = fieldsToSave(device);
    const action = 'save fields that the new definition cannot read, in an annotation';
    return saved === undefined ? [] : [{ ...planned(device, action), change: { type: 'save', device, saved } }];
  });
}

/** planDevices returns the steps for the HSMDevices, their pools and their discovery, device by device. */
export function planDevices({ devices, pools, daemonSets }: Found): readonly PlannedStep[] {
  return devices.filter(isKept).flatMap((device) => {
    const namespace = device.metadata?.namespace;
    const name = device.metadata?.name ?? '';
    const pool = pools.find((each) => keyString(keyOf(each)) === `${namespace}/${poolName(name)}`);
    const daemonSet = daemonSets.find((each) => keyString(keyOf(each)) === `${namespace}/${discoveryName(name)}`);
    // The manager does not use an HSMDevice that is not valid: what it has must stay. The same holds for its discovery
    // if there is no pool.
    const rewrite = planRewrite(device);
    const poolSteps = after(rewrite, planPool(device, pool));
    return [...rewrite, ...poolSteps, ...after(poolSteps, planDiscovery(device, daemonSet))];
  });
}

function isKept({ metadata }: HSMDevice): boolean {
  return metadata?.deletionTimestamp === undefined;
}

/** after returns steps that are only performed if all steps before them are. */
function after(before: readonly PlannedStep[], steps: readonly PlannedStep[]): readonly PlannedStep[] {
  return before.every(({ state }) => state === 'planned') ? steps : steps.map(later);
}

function planRewrite(device: HSMDevice): readonly PlannedStep[] {
  const { device: rewritten, changes, problem } = rewriteDevice(device);
  const problems = problem ?? describe(HSMDevice.validate(rewritten));
  if (problems !== undefined) {
    const next = `correct it with kubectl edit hsmdevice ${device.metadata?.name} -n ${device.metadata?.namespace}`;
    return [{ state: 'blocked', object: nameOf(device), action: `is not valid: ${problems}`, next }];
  }
  if (changes.length === 0) return [];
  return [{ ...planned(device, changes.join(', ')), change: { type: 'rewrite', device: rewritten } }];
}

function planPool(device: HSMDevice, pool: HSMPool | undefined): readonly PlannedStep[] {
  const name = poolName(device.metadata?.name ?? '');
  const object = `HSMPool ${device.metadata?.namespace}/${name}`;
  if (!pool) {
    return [{ state: 'planned', object, action: 'create', change: { type: 'write-pool', device } }];
  }
  // Stored by an older operator, it may lack what the current definition requires.
  const reference: string | undefined = pool.spec?.hsmDeviceRef;
  const status = planStatus(HSMPool, pool);
  if (reference === device.metadata?.name) return status;
  const controller = pool.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  const isOfDevice = controller?.kind === 'HSMDevice' && controller.name === device.metadata?.name;
  if (reference !== undefined || (controller && !isOfDevice)) {
    const holder = reference === undefined ? `${controller?.kind} ${controller?.name}` : `HSMDevice ${reference}`;
    const next = `delete or rename it: kubectl delete hsmpool ${name} -n ${device.metadata?.namespace}`;
    return [{ state: 'blocked', object, action: `belongs to ${holder}`, next }];
  }
  const action = `set spec.hsmDeviceRef to ${device.metadata?.name}`;
  const change = controller
    ? ({ type: 'write-pool', device } as const)
    : ({ type: 'complete-pool', device, pool } as const);
  return [...status, { state: 'planned', object, action, change }];
}

function planDiscovery(device: HSMDevice, daemonSet: DaemonSet | undefined): readonly PlannedStep[] {
  // Once it is being deleted, the manager continues by itself.
  if (!daemonSet || daemonSet.metadata?.deletionTimestamp !== undefined || hasOurSelector(device, daemonSet)) return [];
  const controller = daemonSet.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  const isOfDevice = controller?.uid === device.metadata?.uid;
  const object = `DaemonSet ${keyString(keyOf(daemonSet))}`;
  if (controller ? !isOfDevice : !isOlderDiscovery(daemonSet)) {
    const next = `delete or rename it; discovery of ${nameOf(device)} needs this name`;
    return [{ state: 'blocked', object, action: 'is not of the older operator, and has another selector', next }];
  }
  const action = 'delete, because its selector is another one; the manager creates its own';
  return [{ state: 'planned', object, action, change: { type: 'replace-discovery', device, daemonSet } }];
}

/** The selector depends on nothing but the name of the HSMDevice. */
function hasOurSelector({ metadata }: HSMDevice, { spec }: DaemonSet): boolean {
  const device = HSMDevice.withDefaults({ metadata, spec: { deviceType: 'Generic' } });
  return isSameJson(spec?.selector, desiredDaemonSet(device, keyOf(device), '').spec?.selector);
}

const POOL_MANAGER = fieldManagerOf(OPERATOR, 'pool');

/** isReady reports whether this operator, rather than an older one, has found a pool to be Ready. */
export function isReady({ metadata, status }: HSMPool): boolean {
  const isOurs = metadata?.managedFields?.some(
    ({ manager, subresource }) => manager === POOL_MANAGER && subresource === 'status',
  );
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return isOurs === true && ready?.status === 'True';
}

/** later returns a step that has to wait for earlier ones. */
export function later({ object, action }: PlannedStep): PlannedStep {
  return { state: 'later', object, action };
}

function planned(device: HSMDevice, action: string): { state: 'planned'; object: string; action: string } {
  return { state: 'planned', object: nameOf(device), action };
}

function nameOf(device: HSMDevice): string {
  return `HSMDevice ${keyString(keyOf(device))}`;
}

function describe(problems: ReturnType<typeof HSMDevice.validate>): string | undefined {
  return problems.length > 0 ? describeProblems(problems) : undefined;
}
