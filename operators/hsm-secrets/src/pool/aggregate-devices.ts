import { formatMicroTime, parseTime } from '@bowline/machinery';
import type { DeviceRow } from '../api/hsm-pool.ts';
import { resourceName } from '../api/names.ts';
import type { ReportedDevice } from '../reports/report.ts';
import { type AggregationInput, isBacking } from './aggregation-input.ts';
import type { PodState } from './pod-states.ts';

/** DuplicateSerial is a serial number that several nodes report at the same time. */
export interface DuplicateSerial {
  readonly serialNumber: string;
  /** The node that has the device. */
  readonly nodeName: string;
  /** The nodes whose claims do not count. */
  readonly otherNodes: readonly string[];
}

/** NodeState is what is known about the devices of a node. */
interface NodeState {
  /** The newest fresh report of a completed search; undefined if there is none, and the devices stay as they were. */
  readonly current: (PodState & { readonly report: NonNullable<PodState['report']> }) | undefined;
  readonly isBacked: boolean;
  readonly isFresh: boolean;
  /** When the last report of the node stopped, or stops, to vouch for its devices. */
  readonly backedUntil: number | undefined;
}

/** Claim is a device on a node: from its current report, or from the previous status. */
interface Claim {
  readonly id: string;
  readonly row: DeviceRow;
  /** Whether the node has the device, and keeps it from others. */
  readonly isHeld: boolean;
}

/** deviceId returns the identity of a device: its serial number, or its node and path. */
export function deviceId({
  serialNumber,
  nodeName,
  devicePath,
}: Pick<ReportedDevice, 'serialNumber' | 'nodeName' | 'devicePath'>): string {
  return serialNumber ?? `${nodeName}:${devicePath}`;
}

/** aggregateDevices returns the devices of all nodes, each once, ordered by id. */
export function aggregateDevices(
  states: readonly PodState[],
  input: AggregationInput,
): { readonly devices: readonly DeviceRow[]; readonly duplicates: readonly DuplicateSerial[] } {
  const nodes = nodeStates(states, input);
  const claims = new Map<string, Claim[]>();
  for (const claim of [...reportedClaims(nodes, input), ...previousClaims(nodes, input)]) {
    const same = claims.get(claim.id);
    if (same) same.push(claim);
    else claims.set(claim.id, [claim]);
  }
  const incumbents = new Map(input.previous.devices.map(({ id, nodeName }) => [id, nodeName]));
  const devices: DeviceRow[] = [];
  const duplicates: DuplicateSerial[] = [];
  for (const [id, all] of claims) {
    const { winner, others } = decide(all, incumbents.get(id));
    const row = withoutClaimed(winner.row, input);
    if (winner.isHeld || isListed(row, input)) devices.push(row);
    if (others.length > 0 && row.serialNumber !== undefined)
      duplicates.push({ serialNumber: row.serialNumber, nodeName: row.nodeName, otherNodes: others });
  }
  const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
  return {
    devices: devices.sort(byId),
    duplicates: duplicates.sort((a, b) => (a.serialNumber < b.serialNumber ? -1 : 1)),
  };
}

function nodeStates(states: readonly PodState[], input: AggregationInput): ReadonlyMap<string, NodeState> {
  const byNode = new Map<string, PodState[]>();
  for (const state of states) {
    const same = byNode.get(state.nodeName);
    if (same) same.push(state);
    else byNode.set(state.nodeName, [state]);
  }
  return new Map([...byNode].map(([node, all]) => [node, nodeState(all, input)]));
}

function nodeState(states: readonly PodState[], input: AggregationInput): NodeState {
  const newestFirst = [...states].sort((a, b) => b.confirmedAt - a.confirmedAt || (a.name < b.name ? -1 : 1));
  const fresh = newestFirst.filter((state) => state.isLive && isBacking(state, input));
  const current = fresh.find((state): state is NonNullable<NodeState['current']> => {
    return state.report?.discoveryStatus === 'completed';
  });
  const [newest] = newestFirst;
  return {
    current,
    isBacked: newest !== undefined && isBacking(newest, input),
    isFresh: fresh.length > 0,
    backedUntil: newest && newest.confirmedAt + input.gracePeriodMs,
  };
}

function reportedClaims(nodes: ReadonlyMap<string, NodeState>, { previous }: AggregationInput): readonly Claim[] {
  const before = new Map(previous.devices.map((row) => [`${row.nodeName} ${row.id}`, row]));
  return [...nodes].flatMap(([nodeName, { current }]) =>
    (current?.report.discoveredDevices ?? []).map((device): Claim => {
      const { devicePath, serialNumber, lastSeen, available, deviceInfo } = device;
      const id = deviceId({ serialNumber, devicePath, nodeName });
      const observedTime = current && formatMicroTime(current.observedAt);
      const row: DeviceRow = {
        id,
        devicePath,
        serialNumber,
        nodeName,
        lastSeen,
        lostSince: available ? undefined : (before.get(`${nodeName} ${id}`)?.lostSince ?? observedTime),
        available,
        health: available ? 'Healthy' : 'Unknown',
        resourceName: serialNumber === undefined ? undefined : resourceName(serialNumber),
        deviceInfo,
      };
      return { id, row, isHeld: true };
    }),
  );
}

/** previousClaims returns the devices of the previous status that the current report of their node does not have. */
function previousClaims(nodes: ReadonlyMap<string, NodeState>, input: AggregationInput): readonly Claim[] {
  return input.previous.devices.flatMap((row): Claim[] => {
    const node = nodes.get(row.nodeName);
    const { id } = row;
    if (node?.current) {
      const isReported = node.current.report.discoveredDevices.some(
        (device) => deviceId({ ...device, nodeName: row.nodeName }) === id,
      );
      return isReported ? [] : [{ id, row: lost(row, node.current.observedAt, 'Unplugged'), isHeld: false }];
    }
    if (!node?.isBacked) return [{ id, row: lost(row, node?.backedUntil ?? input.now, 'Stale'), isHeld: false }];
    if (!row.available) return [{ id, row, isHeld: REPORTED.has(row.health) }];
    return [{ id, row: { ...row, health: node.isFresh ? 'Healthy' : 'Stale' }, isHeld: true }];
  });
}

/** The health of a device that is not available although its node reports it. */
const REPORTED: ReadonlySet<string> = new Set(['Unknown', 'Claimed']);

/** lost returns a device that is no longer available. When that began does not change later. */
function lost(row: DeviceRow, since: number, health: DeviceRow['health']): DeviceRow {
  return { ...row, available: false, lostSince: row.lostSince ?? formatMicroTime(since), health };
}

/**
 * decide returns the claim that counts. The node that has a device keeps it while it is backed, so that a false report
 * cannot take it; between new claims the lower name of the node decides.
 */
function decide(claims: readonly Claim[], incumbent: string | undefined): { winner: Claim; others: readonly string[] } {
  const held = claims.filter(({ isHeld }) => isHeld).sort((a, b) => (a.row.nodeName < b.row.nodeName ? -1 : 1));
  const winner = held.find(({ row }) => row.nodeName === incumbent) ?? held[0] ?? claims[0];
  if (!winner) throw new TypeError('a device without a claim');
  // A report may list a serial number twice: that is no claim of another node.
  const others = new Set(held.map(({ row }) => row.nodeName).filter((node) => node !== winner.row.nodeName));
  return { winner, others: [...others] };
}

function withoutClaimed(row: DeviceRow, { claimedSerials }: AggregationInput): DeviceRow {
  if (row.serialNumber === undefined || !claimedSerials.has(row.serialNumber)) return row;
  return { ...row, available: false, health: 'Claimed' };
}

function isListed({ lostSince }: DeviceRow, { now, gracePeriodMs }: AggregationInput): boolean {
  return lostSince === undefined || now <= parseTime(lostSince) + gracePeriodMs;
}
