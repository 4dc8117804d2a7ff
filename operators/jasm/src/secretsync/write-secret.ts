import { isDeepStrictEqual } from 'node:util';
import { Secret } from '@bowline/kubernetes';
import { type Clock, formatTime } from '@bowline/machinery';
import { fieldManagerOf, type LiveClient } from '@bowline/runtime';
import { OPERATOR } from '../api/names.ts';
import {
  contentPatch,
  isMarked,
  markPatch,
  mergePatch,
  newSecret,
  othersKeys,
  type WantedMarks,
  type WantedSecret,
} from './desired.ts';
import { changedOnItsWay, keysInTheWay, obstacleTo } from './obstacles.ts';
import type { Problem } from './problem.ts';
import { type SecretView, viewOfSecret } from './secret-view.ts';
import { writeProblem } from './write-problem.ts';

/** FIELD_MANAGER owns what we write in Secrets. It is API. */
export const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'secrets');

/** Deed is what was done to a Secret. */
export type Deed = 'created' | 'updated' | 'repaired' | 'marked' | 'nothing';

/** SecretTools are what writing a Secret needs of a run. */
export interface SecretTools {
  readonly client: Pick<LiveClient, 'create' | 'patch'>;
  readonly clock: Clock;
}

/** Target is where a Secret is written: what is known of the one that is there, and all of it when it is not ours. */
export interface Target {
  readonly namespace: string;
  readonly secret: SecretView | undefined;
  readonly live?: Secret | undefined;
}

/**
 * writeSecret makes a Secret what it should be, with one request or none, and answers what it did or why it cannot. When the Secret
 * is not what was thought, the request is refused and throws: the run that follows at once knows better, and for a pod that waits the
 * source is not read again.
 */
export async function writeSecret(tools: SecretTools, target: Target, wanted: WantedSecret): Promise<Deed | Problem> {
  const { namespace, secret, live } = target;
  const obstacle = obstacleTo(wanted.request, secret);
  if (obstacle) return obstacle;
  const at = formatTime(tools.clock.now());
  if (!secret) {
    const created = tools.client.create(Secret, newSecret(namespace, wanted, at), { fieldManager: FIELD_MANAGER });
    return settled(created, wanted, 'created');
  }
  if (secret.hash === wanted.hash) {
    return isMarked(secret, wanted) ? 'nothing' : markSecret(tools, secret, wanted);
  }
  const deed = secret.hash === secret.marks.dataHash ? 'updated' : 'repaired';
  if (secret.isOurs) return patched(tools, secret, contentPatch(secret, wanted, at), wanted, deed);
  const inTheWay = live ? othersKeys(live, secret, wanted) : [];
  if (inTheWay.length > 0) return keysInTheWay(wanted.request, inTheWay);
  return patched(tools, secret, mergePatch(secret, wanted, at), wanted, deed);
}

/** markSecret changes what a Secret says about itself; its content, and the time of that, stay. */
export function markSecret(
  tools: SecretTools,
  secret: SecretView,
  wanted: WantedMarks & Pick<WantedSecret, 'managedBy'> & Partial<Pick<WantedSecret, 'data'>>,
): Promise<Deed | Problem> {
  return patched(tools, secret, markPatch(secret, wanted), wanted, 'marked');
}

function patched(
  { client }: SecretTools,
  { namespace, name }: SecretView,
  body: object,
  wanted: Written,
  deed: Deed,
): Promise<Deed | Problem> {
  const patch = { type: 'strategic', body } as const;
  return settled(client.patch(Secret, { namespace, name }, patch, { fieldManager: FIELD_MANAGER }), wanted, deed);
}

type Written = WantedMarks & Partial<Pick<WantedSecret, 'data'>>;

async function settled(writing: Promise<Secret>, wanted: Written, deed: Deed): Promise<Deed | Problem> {
  try {
    const written = await writing;
    // What is changed on its way would be repaired for ever, as fast as the API server can.
    return deed === 'marked' || isAsWanted(written, wanted) ? deed : changedOnItsWay(wanted.request);
  } catch (error) {
    const problem = writeProblem(error, wanted);
    if (problem) return problem;
    throw error;
  }
}

/** Of a Secret that is not ours only some keys are: then its hash tells. */
function isAsWanted(written: Secret, { data, hash }: Written): boolean {
  return isDeepStrictEqual(written.data, data) || viewOfSecret(written).hash === hash;
}
