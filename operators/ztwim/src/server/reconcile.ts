import { Secret } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import type { ReconcileResult } from '@bowline/runtime';
import { ANNOTATIONS } from '../api/names.ts';
import { SpireServer } from '../api/spire-server.ts';
import { soonest, type WrittenCertificate, writeCertificate } from '../certificates/write-certificate.ts';
import { objectLabels } from '../objects/labels.ts';
import { actOrHold } from '../operand/act-or-hold.ts';
import { inputOf, type Platform } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { platformOf } from '../operand/platform.ts';
import { referencedSecrets } from '../operand/referenced-secrets.ts';
import { reportInvalid } from '../operand/report.ts';
import { settleAll } from '../operand/settle-all.ts';
import type { Problem } from '../operand/validity.ts';
import { writeOperand } from '../operand/write-operand.ts';
import {
  type Identity,
  type IdentityHistory,
  nextHistory,
  readHistory,
  writeHistory,
} from '../spire/identity-history.ts';
import { SERVER } from '../spire/names.ts';
import { serviceNames } from '../spire/oidc-config.ts';
import { VolumeSnapshot } from '../third-party/volume-snapshot.ts';
import { backupAvailable } from './backup.ts';
import { serverKinds } from './clean-up.ts';
import type { ServerContext } from './controller.ts';
import { databaseTlsProblem, reportPlainTextPassword, secretsOf, tlsKeysOf } from './datastore.ts';
import { ensureBundle, isBundle } from './ensure-bundle.ts';
import { externalCertificateOf } from './server-exposure.ts';
import { type ServerInput, serverComponent, usesServingCert } from './server-input.ts';
import { serverObjects } from './server-objects.ts';
import { SERVING_CERT } from './server-services.ts';
import { serverValidity, ttlValidity } from './server-validity.ts';

/** reconcile brings the objects of the SPIRE server to the state that the five objects describe. */
export async function reconcile(context: ServerContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpireServer');
  if (!acting) return undefined;
  const { object, deps } = context;
  reportPlainTextPassword(context);
  const ttls = ttlCondition(context);
  const secrets = secretsOf(context);
  const known = readHistory(object.metadata?.annotations?.[ANNOTATIONS.history]);
  const platform = platformOf(context);
  const secretProblem = secrets.problem ?? databaseTlsProblem(context) ?? routeProblem(context, platform);
  const valid = serverValidity(object, acting, deps.config, { history: known, secretProblem });
  if (!ttls.status || !valid.status) return reportInvalid(context, 'SpireServer', [acting.source, valid, ttls]);
  const input: ServerInput = {
    ...inputOf(acting, object, platform),
    history: await recordIdentity(context, known, acting.values),
    secretsHash: secrets.hash,
    databaseTlsKeys: tlsKeysOf(context),
  };
  let certificate: WrittenCertificate = {};
  const outcome = await writeOperand(context, {
    parent: acting.parent,
    children: serverObjects(input),
    cleanup: serverKinds,
    conditions: [acting.source, ttls, ...backupAvailable(object, context.isServed(VolumeSnapshot))],
    valid,
    alongside: async () => {
      const [bundle, written] = await settleAll([ensureBundle(context, input), ensureCertificate(context, input)]);
      certificate = written;
      return certificate.problem ? [bundle, certificate.problem] : [bundle];
    },
    decide: ({ kind }, kept) => (isBundle(kept) || (kind === 'Secret' && issuesCertificate(input)) ? 'keep' : 'remove'),
  });
  if (outcome.type === 'refused') return undefined;
  return { requeueAfterMs: soonest(outcome.requeueAfterMs, certificate.checkAfterMs) };
}

/** The router reads the certificate of a Route itself, so that a change of it restarts nothing. */
function routeProblem({ object, get }: ServerContext, platform: Platform): Problem | undefined {
  const name = externalCertificateOf({ ...platform, spec: object.spec });
  if (name === undefined) return undefined;
  return referencedSecrets((key) => get(Secret, key), platform.config.operandNamespace, [{ name }]).problem;
}

/** On OpenShift, an annotation of the Service requests the certificate; elsewhere the operator issues one. */
function issuesCertificate({ isOpenShift: hasPlatform, spec }: ServerInput): boolean {
  return !hasPlatform && usesServingCert(spec);
}

async function ensureCertificate(context: ServerContext, input: ServerInput): Promise<WrittenCertificate> {
  if (!issuesCertificate(input)) return {};
  const { operandNamespace: namespace, clusterDomain } = input.config;
  const names = [`federation.${input.values.trustDomain}`, ...serviceNames(SERVER, namespace, clusterDomain)];
  const labels = objectLabels(input, serverComponent(input));
  const key = { namespace, name: SERVING_CERT };
  return writeCertificate(context, { key, labels, names, condition: 'StatefulSetAvailable' });
}

/** The history is written before anything is rendered, so that a change continues after a crash at any point. */
async function recordIdentity(
  { object, live, clock, event }: ServerContext,
  known: IdentityHistory | undefined,
  identity: Identity,
): Promise<IdentityHistory> {
  const history = nextHistory(known, identity, formatTime(clock.now()));
  if (known && known.trustDomain.current !== identity.trustDomain) {
    const change = `from ${known.trustDomain.current} to ${identity.trustDomain}`;
    event(
      'Warning',
      'TrustDomainChanged',
      `the trust domain changes ${change}; identities of the old one become invalid`,
    );
  }
  const next = writeHistory(history);
  if (next !== object.metadata?.annotations?.[ANNOTATIONS.history]) {
    const { name = '', uid } = object.metadata ?? {};
    const body = { metadata: { uid, annotations: { [ANNOTATIONS.history]: next } } };
    await live.patch(SpireServer, { name }, { type: 'merge', body });
  }
  return history;
}

function ttlCondition({ object, event }: ServerContext): OperandCondition {
  const condition = ttlValidity(object);
  if (condition.reason === 'TTLValidationWarning') event('Warning', 'TTLConfigurationWarning', condition.message);
  return condition;
}
