import { Secret } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import { soonest, type WrittenCertificate, writeCertificate } from '../certificates/write-certificate.ts';
import { objectLabels } from '../objects/labels.ts';
import { actOrHold } from '../operand/act-or-hold.ts';
import { inputOf } from '../operand/acting.ts';
import { platformOf } from '../operand/platform.ts';
import { referencedSecrets } from '../operand/referenced-secrets.ts';
import { reportInvalid, reportTurn } from '../operand/report.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import { writeOperand } from '../operand/write-operand.ts';
import { oidcDomains } from '../spire/oidc-config.ts';
import { awaitAgent } from './await-agent.ts';
import { oidcCleanup } from './clean-up.ts';
import type { OidcContext } from './controller.ts';
import { externalCertificateOf } from './oidc-exposure.ts';
import { certificateSecret, type OidcInput, oidcComponent } from './oidc-input.ts';
import { oidcObjects } from './oidc-objects.ts';
import { oidcValidity } from './oidc-validity.ts';

/** reconcile brings the objects of the OIDC discovery provider to the state that the five objects describe. */
export async function reconcile(context: OidcContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpireOIDCDiscoveryProvider');
  if (!acting) return undefined;
  const { object, deps, get } = context;
  const platform = platformOf(context);
  const external = externalCertificateOf({ ...platform, spec: object.spec });
  const references = [
    ...(object.spec.tls ? [{ name: object.spec.tls.secretName }] : []),
    ...(external === undefined ? [] : [{ name: external }]),
  ];
  const secrets = referencedSecrets((key) => get(Secret, key), deps.config.operandNamespace, references);
  const valid = oidcValidity(acting, deps.config, secrets.problem);
  const agreed = settingsAgree(acting, 'SpireOIDCDiscoveryProvider');
  const general = [acting.source, valid, agreed];
  if (!valid.status) return reportInvalid(context, 'SpireOIDCDiscoveryProvider', general);
  const turn = await awaitAgent(context, acting);
  if (turn.type === 'wait') return reportTurn(context, 'SpireOIDCDiscoveryProvider', general, turn);
  if (turn.type === 'overdue') context.event('Warning', 'CascadeNotAwaited', turn.message);
  const input = inputOf(acting, object, platform);
  let certificate: WrittenCertificate = {};
  const outcome = await writeOperand(context, {
    parent: acting.parent,
    children: oidcObjects(input),
    cleanup: oidcCleanup,
    conditions: [acting.source, agreed],
    valid,
    alongside: async () => {
      certificate = await ensureCertificate(context, input);
      return certificate.problem ? [certificate.problem] : [];
    },
    decide: ({ kind }) => (kind === 'Secret' && issuesCertificate(input) ? 'keep' : 'remove'),
  });
  if (outcome.type === 'refused') return undefined;
  return { requeueAfterMs: soonest(outcome.requeueAfterMs, certificate.checkAfterMs) };
}

/** On OpenShift, an annotation of the Service requests the certificate; elsewhere the operator issues one. */
function issuesCertificate({ spec, isOpenShift: hasPlatform }: OidcInput): boolean {
  return !hasPlatform && spec.tls === undefined;
}

async function ensureCertificate(context: OidcContext, input: OidcInput): Promise<WrittenCertificate> {
  const { config, spec } = input;
  if (!issuesCertificate(input)) return {};
  const { operandNamespace: namespace, clusterDomain } = config;
  const key = { namespace, name: certificateSecret(input) };
  const names = oidcDomains({ spec, values: input.values, namespace, clusterDomain });
  const labels = objectLabels(input, oidcComponent(input));
  return writeCertificate(context, { key, labels, names, condition: 'DeploymentAvailable' });
}
