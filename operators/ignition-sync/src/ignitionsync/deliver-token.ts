import { Secret } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { createWriter } from '@bowline/runtime/writing';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { DOMAIN, objectNames } from '../api/names.ts';
import type { AppToken } from '../git/access/app-tokens.ts';
import type { GitSource } from '../source/source-identity.ts';
import { labelsOf } from './provide-objects.ts';
import type { SyncContext } from './sync-controller.ts';

/** When the token expires. */
const EXPIRES = `${DOMAIN}/token-expires`;
/** What the token is for: another App or installation needs another token. */
const INSTALLATION = `${DOMAIN}/token-installation`;

/** A token that is valid for less than this is replaced. */
const RENEW_BEFORE_MS = 300_000;

/**
 * deliverToken writes the token of a GitHub App for agents, and returns it. A token that an earlier process delivered stays until it
 * expires. Controllers declare their writes statically, but the permission to write Secrets depends on the configuration, so
 * the writer is created here.
 */
export async function deliverToken(context: SyncContext, source: GitSource | undefined): Promise<AppToken | undefined> {
  const { object, key, live, clock, deps, fieldManager, signal } = context;
  const token = source && deps.sources.appToken(source);
  const app = object.spec.git.auth?.githubApp;
  if (!token || !app) return undefined;
  const { namespace } = key;
  const name = objectNames(key.name).githubToken;
  const installation = `${app.apiBaseURL} ${app.appId} ${app.installationId}`;
  const stored = await live.find(Secret, { namespace, name });
  const annotations = stored?.metadata?.annotations ?? {};
  const expiresAtMs = Date.parse(annotations[EXPIRES] ?? '');
  const isUsable = annotations[INSTALLATION] === installation && expiresAtMs - clock.now() > RENEW_BEFORE_MS;
  if (isUsable && stored?.data?.token) return { ...token, expiresAtMs };
  const writer = createWriter({
    client: live,
    fieldManager,
    ownership: { owner: { resource: IgnitionSync, object } },
    signal,
  });
  await writer.apply(Secret, {
    metadata: {
      namespace,
      name,
      labels: labelsOf(key.name),
      annotations: { [EXPIRES]: formatTime(token.expiresAtMs), [INSTALLATION]: installation },
    },
    type: 'Opaque',
    data: { token: Buffer.from(token.token).toString('base64') },
  });
  return token;
}
