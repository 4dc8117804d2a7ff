import { Secret } from '@bowline/kubernetes';
import type { Claim, Ensured } from '@bowline/runtime/writing';
import { release as releaseObject, setOwner } from '@bowline/runtime/writing';
import { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS, MANAGER } from '../api/names.ts';
import type { SecretContext } from './controller.ts';
import type { DesiredSecret } from './desired.ts';
import { SyncProblem } from './problem.ts';
import { RELEASED_ANNOTATIONS, RELEASED_LABELS, type SecretView, secrets } from './secrets.ts';
import { refusal, writeProblem } from './write-problem.ts';

/** ObservedSecret is a Secret as it was found: `live` is the whole object, if it was read. */
export interface ObservedSecret {
  /** Undefined: it does not exist. */
  readonly view: SecretView | undefined;
  readonly live?: Secret | undefined;
}

/** Written is the result of a write. */
export type Written = Pick<Ensured<Secret, SecretView>, 'outcome' | 'hash' | 'writtenAt'>;

/** secretNameOf returns the name of the Secret of an HSMSecret. */
export function secretNameOf({ metadata, spec }: HSMSecret): string {
  return spec.secretName ?? metadata?.name ?? '';
}

/** observeSecret finds the Secret of an HSMSecret. Only one that is not ours, or does not exist, has to be read. */
export async function observeSecret(context: SecretContext): Promise<ObservedSecret> {
  const { object, key, get, live } = context;
  const target = { namespace: key.namespace, name: secretNameOf(object) };
  const known = get(Secret, target);
  if (known) return { view: known };
  const found = await live.find(Secret, target);
  return { view: found && secrets.viewOf(found), live: found };
}

/** obstacleTo returns why a Secret cannot be written, whatever the device holds. */
export function obstacleTo(context: SecretContext, { view }: ObservedSecret): SyncProblem | undefined {
  if (!view) return undefined;
  const { name } = view;
  const claim = claimOf(context, view);
  if (claim === 'foreign' || (claim === 'left' && view.hash !== view.appliedHash)) return foreign(context, view);
  const { secretType } = context.object.spec;
  if (view.type === secretType) return undefined;
  return refusal(
    name,
    `it has the type ${view.type}, but ${secretType} is requested, and a type cannot be changed; delete the Secret, or set spec.secretType to its type`,
  );
}

/**
 * writeSecret brings a Secret to its desired state, with one request or none, and one more if the owner has to be set.
 * It returns what was done, or the problem.
 */
export async function writeSecret(
  context: SecretContext,
  observed: ObservedSecret,
  desired: DesiredSecret,
): Promise<Written | SyncProblem> {
  const { object, key, ensure } = context;
  const name = secretNameOf(object);
  const target = { namespace: key.namespace, name };
  try {
    const result = await ensure(secrets, target, desired, { claim: (view) => claimOf(context, view), observed });
    if (result.stop) return stopProblem(context, result);
    const modified = result.object && modification(context, desired, result.object);
    if (modified) return modified;
    await writeOwner(context, result.object ? secrets.viewOf(result.object) : observed.view, result.object);
    return result;
  } catch (error) {
    const problem = writeProblem(error, name);
    if (problem) return problem;
    throw error;
  }
}

/** giveUp deletes a Secret of ours, or leaves it to the user without our labels, annotations and owner reference. */
export async function giveUp(context: SecretContext, name: string, options: { delete: boolean }): Promise<void> {
  const { object, key, live, release } = context;
  const found = await live.find(Secret, { namespace: key.namespace, name });
  if (!found) return;
  const view = secrets.viewOf(found);
  const isStillOurs = (each: SecretView): boolean => claimOf(context, each) === 'ours';
  if (!isStillOurs(view)) return;
  if (options.delete) {
    await release(secrets, view, { delete: true, isStillOurs });
    return;
  }
  const owner = { resource: HSMSecret, object };
  await releaseObject(context, Secret, found, { labels: RELEASED_LABELS, annotations: RELEASED_ANNOTATIONS, owner });
}

/** A Secret that another HSMSecret left behind is taken over, unless it was changed since. */
function claimOf({ object, get }: SecretContext, { isOurs, namespace, operatorAnnotations }: SecretView): Claim {
  const { owner } = operatorAnnotations;
  if (!isOurs || owner === undefined) return 'foreign';
  if (owner === object.metadata.name) return 'ours';
  return get(HSMSecret, { namespace, name: owner }) ? 'foreign' : 'left';
}

function foreign({ object }: SecretContext, { name, isOurs, operatorAnnotations: { owner } }: SecretView): SyncProblem {
  const cause =
    isOurs && owner !== undefined
      ? `it belongs to the HSMSecret ${owner}`
      : `it exists without the label ${LABELS.managedBy}=${MANAGER} of a delivered Secret`;
  return new SyncProblem(
    'ForeignSecret',
    `the Secret ${name} is not written: ${cause}; delete or rename it, or set spec.secretName of the HSMSecret ${object.metadata.name} to another name`,
  );
}

function stopProblem(context: SecretContext, { stop, before }: Ensured<Secret, SecretView>): SyncProblem {
  const name = secretNameOf(context.object);
  if (stop?.reason === 'immutable') return refusal(name, 'it is immutable; delete it, so that it is recreated');
  if (stop?.reason === 'terminating') return refusal(name, 'it is being deleted; it is recreated once it is gone');
  return before ? foreign(context, before) : refusal(name, `it was not changed (${stop?.reason})`);
}

/** A Secret that a webhook changes would otherwise be repaired forever, as fast as the API server allows. */
function modification({ key, deps }: SecretContext, { hash }: DesiredSecret, stored: Secret): SyncProblem | undefined {
  const { name, hash: storedHash } = secrets.viewOf(stored);
  const id = `${key.namespace}/${key.name}`;
  if (hash === undefined || hash === storedHash) {
    deps.modifiedSecrets.delete(id);
    return undefined;
  }
  deps.modifiedSecrets.set(id, storedHash);
  return modifiedOnWrite(name);
}

/** modifiedOnWrite returns the problem of a Secret that is not stored as it was written. */
export function modifiedOnWrite(name: string): SyncProblem {
  const remedy = `exclude Secrets with the label ${LABELS.managedBy}=${MANAGER} from that webhook`;
  return refusal(name, `it is changed while it is being written, probably by a mutating webhook; ${remedy}`);
}

/** A Secret that outlives its HSMSecret has no owner: the garbage collector would delete it. */
async function writeOwner(
  { object, live, fieldManager, signal }: SecretContext,
  view: SecretView | undefined,
  stored: Secret | undefined,
): Promise<void> {
  if (!view) return;
  const { namespace, name } = view;
  const hasOwner = view.ownerUIDs.includes(object.metadata.uid);
  const isOwned = object.spec.deletionPolicy === 'Delete';
  if (hasOwner === isOwned) return;
  const secret = stored ?? (await live.find(Secret, { namespace, name }));
  if (secret?.metadata?.uid !== view.uid) return;
  const owner = { resource: HSMSecret, object };
  if (isOwned) await setOwner(live, Secret, secret, owner, { fieldManager, signal, blockOwnerDeletion: false });
  else await releaseObject({ live, fieldManager, signal }, Secret, secret, { owner });
}
