import { CR_ANNOTATIONS } from '../api/names.ts';
import type { CheckedSecrets } from '../memory/sync-memory.ts';
import { readGitSecrets, secretValue } from '../source/git-secrets.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * checkSecrets reads the Secrets that the spec names, and returns the source that they give access to. Runs that follow each
 * other quickly share the result; a changed spec or request reads them again.
 */
export async function checkSecrets(context: SyncContext): Promise<CheckedSecrets> {
  const { object, key, deps } = context;
  const { uid = '', generation, annotations = {} } = object.metadata ?? {};
  const requests = [CR_ANNOTATIONS.requestedAt, CR_ANNOTATIONS.retry].map((name) => annotations[name] ?? '');
  // Part of the identity of the source, which stays the same when this process pins a key.
  const pinnedAtFirst = deps.memory.pinnedAtFirst(key, uid, object.status?.pinnedHostKeys ?? []);
  const version = JSON.stringify([generation, ...requests]);
  const checked = await deps.memory.secrets(key, uid, version, () => readSecrets(context, pinnedAtFirst));
  const { source } = checked;
  return { ...checked, source: source && { ...source, pinned: object.status?.pinnedHostKeys ?? [] } };
}

async function readSecrets(
  { object, key, deps, live }: SyncContext,
  pinnedAtFirst: readonly string[],
): Promise<CheckedSecrets> {
  const { namespace = '' } = key;
  const { git, gateway, webhook } = object.spec;
  const { identities } = deps.sources;
  const read = await readGitSecrets(live, namespace, git);
  // The key of gateways is checked although it is needed by agents only: it would be missing when their pods start.
  const apiKey = await secretValue(live, namespace, gateway.apiKeySecretRef, 'spec.gateway.apiKeySecretRef');
  const gatewayProblem = 'problem' in apiKey ? apiKey.problem : undefined;
  // The receiver reads it for itself. Here it is checked for the condition of webhooks.
  const { secretRef } = webhook;
  const ofWebhook = secretRef && (await secretValue(live, namespace, secretRef, 'spec.webhook.secretRef'));
  const webhookProblem = ofWebhook && 'problem' in ofWebhook ? ofWebhook.problem : undefined;
  const problems = { gatewayProblem, webhookProblem };
  if ('problem' in read) return { source: undefined, digest: '', problem: read.problem, ...problems };
  const { secrets } = read;
  return {
    source: identities.sourceOf({ namespace, git, secrets, pinned: pinnedAtFirst }),
    digest: identities.digest(secrets),
    problem: undefined,
    ...problems,
  };
}
