import { randomUUID } from 'node:crypto';
import type { BoundObjectReference, Pod, TokenRequestSpec } from '@bowline/kubernetes';
import { formatTime, quoteText } from '@bowline/machinery';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import type { TokenClaims } from '../authentication/token-claims.ts';
import type { ComputeResponse, Draft } from '../registry/api-resource.ts';
import { badRequest, conflict, invalid, notFound } from '../status/api-status.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf, type Stored } from '../storage/stored.ts';

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * The expiry that kubelets request, an unusual number that identifies their requests. Their tokens are valid for a
 * year, so that clients which never reload them keep working.
 */
const KUBELET_SECONDS = DEFAULT_SECONDS + 7;
const YEAR_SECONDS = 365 * 24 * 3600;

/** defaultTokenRequest sets the defaults of a TokenRequest. */
export function defaultTokenRequest(draft: Draft): void {
  draft.spec = { expirationSeconds: DEFAULT_SECONDS, ...(draft.spec as object | undefined) };
}

/** tokenRequest issues a token of the ServiceAccount that the path names. */
export function tokenRequest(storage: Storage, tokens: ServiceAccountTokens): ComputeResponse {
  return (draft, { namespace, name, now }) => {
    const account = storage.get('serviceaccounts', keyIn(namespace, name));
    if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
    // Decoding checked the schema of the kind.
    const spec = draft.spec as TokenRequestSpec & { readonly expirationSeconds: number };
    refuseInvalid(draft, spec, name);
    const { boundObjectRef, expirationSeconds } = spec;
    const audiences = spec.audiences?.length ? spec.audiences : tokens.audiences;
    const issuedAt = Math.floor(now / 1000);
    const bound = boundObjectRef ? boundTo(storage, boundObjectRef, namespace, name) : {};
    const isKubelets = expirationSeconds === KUBELET_SECONDS && bound.pod !== undefined;
    const token = tokens.issue({
      audiences,
      id: randomUUID(),
      namespace,
      serviceAccount: { name, uid: account.uid },
      issuedAt,
      notBefore: issuedAt,
      expiresAt: issuedAt + (isKubelets ? YEAR_SECONDS : expirationSeconds),
      warnAfter: isKubelets ? issuedAt + expirationSeconds : undefined,
      ...bound,
    });
    const expirationTimestamp = formatTime((issuedAt + expirationSeconds) * 1000);
    return {
      ...draft,
      metadata: { ...draft.metadata, name, namespace, uid: account.uid, creationTimestamp: formatTime(now) },
      spec: { audiences, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
      status: { token, expirationTimestamp },
    };
  };
}

function refuseInvalid({ metadata }: Draft, { expirationSeconds }: TokenRequestSpec, name: string): void {
  const wrong = (field: string, value: unknown, detail: string, about: string): never => {
    throw invalid(KIND, about, [
      { field, reason: 'FieldValueInvalid', message: `Invalid value: ${String(value)}: ${detail}` },
    ]);
  };
  if (metadata.name && metadata.name !== name) {
    const value = quoteText(metadata.name);
    wrong('metadata.name', value, 'must match the service account name if specified', name);
  }
  if (expirationSeconds === undefined) return;
  const field = 'spec.expirationSeconds';
  if (expirationSeconds < MIN_SECONDS)
    wrong(field, expirationSeconds, 'may not specify a duration less than 10 minutes', '');
  if (expirationSeconds > MAX_SECONDS)
    wrong(field, expirationSeconds, 'may not specify a duration larger than 2^32 seconds', '');
}

type Bound = Pick<TokenClaims, 'pod' | 'secret' | 'node'>;

/** boundTo returns the claims that bind a token to an object, which must exist. */
function boundTo(storage: Storage, reference: BoundObjectReference, namespace: string, account: string): Bound {
  const { apiVersion = '', kind = '', name = '' } = reference;
  const found = (resource: string, inNamespace: string): Stored => {
    const stored = storage.get(resource, keyIn(inNamespace, name));
    if (!stored) throw notFound({ group: '', resource }, name);
    if (reference.uid && reference.uid !== stored.uid) {
      const why = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: '', resource: kind }, name, why);
    }
    return stored;
  };
  switch (apiVersion.includes('/') ? '' : kind) {
    case 'Pod': {
      const stored = found('pods', namespace);
      const { spec } = objectOf(stored) as Pod;
      if (spec?.serviceAccountName !== account) {
        const which = quoteText(account);
        throw badRequest(
          `cannot bind token for serviceaccount ${which} to pod running with different serviceaccount name.`,
        );
      }
      const node = spec.nodeName ? storage.get('nodes', keyIn('', spec.nodeName)) : undefined;
      const where = node && spec.nodeName ? { node: { name: spec.nodeName, uid: node.uid } } : {};
      return { pod: { name, uid: stored.uid }, ...where };
    }
    case 'Secret':
      return { secret: { name, uid: found('secrets', namespace).uid } };
    case 'Node':
      return { node: { name, uid: found('nodes', '').uid } };
    default: {
      const slash = apiVersion.indexOf('/');
      const type = slash < 0 ? `/${apiVersion}` : apiVersion;
      throw badRequest(`cannot bind token to object of type ${type}, Kind=${kind}`);
    }
  }
}
