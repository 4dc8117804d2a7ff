/** MirroringPolicy is how secrets are copied between the devices of a pool. */
export type MirroringPolicy = 'None' | 'ReadOnly' | 'Active';

/** PoolDevice is a device that could take part in mirroring. */
export interface PoolDevice {
  readonly serial: string;
  readonly nodeName: string;
  /** Whether it can be used. A device of a node that does not respond stays available for the grace period. */
  readonly available: boolean;
  /**
   * Whether the last round left it with everything that the primary device has. A device that returned has older
   * secrets until then. Defaults to true.
   */
  readonly isSynced?: boolean | undefined;
}

/** PrimaryInput is what the choice of the primary device follows from. */
export interface PrimaryInput {
  readonly devices: readonly PoolDevice[];
  readonly policy: MirroringPolicy;
  /** The preferred node of the primary device. */
  readonly primaryNode?: string | undefined;
  /** The nodes whose devices take part, besides the preferred node. Undefined or empty: all. */
  readonly targetNodes?: readonly string[] | undefined;
  /** Whether another device becomes primary when it is lost. */
  readonly autoFailover: boolean;
  /** The serial number of the current primary device. */
  readonly incumbent?: string | undefined;
  /** How often a primary device was lost so far. Defaults to 0. */
  readonly failoverCount?: number | undefined;
}

/** PrimaryChoice is the primary device and the devices that take part. */
export interface PrimaryChoice {
  /** The serial number of the primary device; undefined if there is none. */
  readonly primary: string | undefined;
  readonly primaryNode: string | undefined;
  /** Whether secrets can be written. Without it, reads continue from the other devices. */
  readonly isWritable: boolean;
  /** The serial numbers of all devices that should have the secrets, available or not, in order. */
  readonly participants: readonly string[];
  /** The nodes of the participants other than the primary device, in order. */
  readonly mirroredNodes: readonly string[];
  readonly failoverCount: number;
}

/**
 * choosePrimary returns the primary device: an available one on the preferred node, else the incumbent, else the one
 * with the lowest serial number. If the incumbent is lost, another one takes over only with `autoFailover`.
 */
export function choosePrimary(input: PrimaryInput): PrimaryChoice {
  const { policy, incumbent, failoverCount = 0 } = input;
  const candidates = candidatesOf(input);
  const current = candidates.find(({ serial }) => serial === incumbent);
  const primary = preferred(candidates, current, input) ?? successor(candidates, current, input);
  const isFailover = isLost(current, input) && primary !== undefined && primary.serial !== incumbent;
  const serial = primary?.serial ?? (isLost(current, input) ? incumbent : undefined);
  const others = policy === 'None' ? [] : candidates.filter((device) => device.serial !== serial);
  return {
    primary: serial,
    primaryNode: primary?.nodeName,
    isWritable: primary?.available ?? false,
    participants: [...(primary ? [primary] : []), ...others].map((device) => device.serial).sort(),
    mirroredNodes: [...new Set(others.map(({ nodeName }) => nodeName))].sort(),
    failoverCount: failoverCount + Number(isFailover),
  };
}

/** candidatesOf returns the devices that take part, ordered by serial number. */
function candidatesOf({ devices, primaryNode, targetNodes = [] }: PrimaryInput): readonly PoolDevice[] {
  const isTarget = ({ nodeName }: PoolDevice): boolean =>
    targetNodes.length === 0 || nodeName === primaryNode || targetNodes.includes(nodeName);
  return devices.filter(isTarget).sort((a, b) => (a.serial < b.serial ? -1 : 1));
}

/**
 * preferred returns the device on the preferred node. If another one is primary, it waits until it was synced: what was
 * written in its absence would otherwise be replaced by what it has.
 */
function preferred(
  candidates: readonly PoolDevice[],
  current: PoolDevice | undefined,
  { primaryNode, autoFailover, incumbent }: PrimaryInput,
): PoolDevice | undefined {
  const onNode = candidates.filter(({ nodeName, available }) => available && nodeName === primaryNode);
  if (current && onNode.includes(current)) return current;
  const hasAlternative = current?.available || (autoFailover && candidates.some(isUsable));
  if (incumbent === undefined || !hasAlternative) return onNode.find(isSynced) ?? onNode[0];
  return onNode.find(isSynced);
}

/** successor returns the incumbent, or the device that takes over from it. */
function successor(
  candidates: readonly PoolDevice[],
  current: PoolDevice | undefined,
  input: PrimaryInput,
): PoolDevice | undefined {
  if (current?.available) return current;
  if (isLost(current, input) && !input.autoFailover) return current;
  return candidates.find(isUsable) ?? candidates.find(({ available }) => available) ?? current;
}

/** An incumbent that exists but no longer takes part was not lost: the nodes were changed. */
function isLost(current: PoolDevice | undefined, { incumbent, devices }: PrimaryInput): boolean {
  if (incumbent === undefined || current?.available) return false;
  return current !== undefined || !devices.some(({ serial }) => serial === incumbent);
}

function isUsable(device: PoolDevice): boolean {
  return device.available && isSynced(device);
}

function isSynced(device: PoolDevice): boolean {
  return device.isSynced ?? true;
}
