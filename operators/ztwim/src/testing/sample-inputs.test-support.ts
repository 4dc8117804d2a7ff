import type { FieldProblem } from '@bowline/machinery';
import { applyDefaults } from '@bowline/machinery/schema';
import type { AgentInput } from '../agent/agent-input.ts';
import { SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { type Config, config } from '../config.ts';
import type { CsiInput } from '../csi/csi-input.ts';
import { combinePodSettings, type OperandInput, type PodSettings } from '../objects/operand-input.ts';
import type { OidcInput } from '../oidc/oidc-input.ts';
import type { EffectiveValues } from '../resolve/hold.ts';
import type { ServerInput } from '../server/server-input.ts';
import { type IdentityHistory, nextHistory } from '../spire/identity-history.ts';

/** Written is the spec of a kind as a user writes it. */
type Written<R extends { readonly withDefaults: (object: never) => unknown }> = NonNullable<
  NonNullable<Parameters<R['withDefaults']>[0]>['spec']
>;

/** ServerSpec is the spec of a SpireServer as a user writes it. */
export type ServerSpec = Written<typeof SpireServer>;
/** AgentSpec is the spec of a SpireAgent as a user writes it. */
export type AgentSpec = Written<typeof SpireAgent>;
/** CsiSpec is the spec of a SpiffeCSIDriver as a user writes it. */
export type CsiSpec = Written<typeof SpiffeCSIDriver>;
/** OidcSpec is the spec of a SpireOIDCDiscoveryProvider as a user writes it. */
export type OidcSpec = Written<typeof SpireOIDCDiscoveryProvider>;
/** SharedSpec is the spec of a ZeroTrustWorkloadIdentityManager as a user writes it. */
export type SharedSpec = Written<typeof ZeroTrustWorkloadIdentityManager>;

/** Overrides are the parts of an input that differ from the defaults. */
export interface Overrides<Spec> {
  readonly spec?: Spec | undefined;
  /** Settings of pods that all operands share. */
  readonly shared?: SharedSpec | undefined;
  readonly values?: Partial<EffectiveValues> | undefined;
  readonly config?: Partial<Config> | undefined;
  readonly isOpenShift?: boolean | undefined;
}

/** ServerOverrides are the parts of a ServerInput that differ from the defaults. */
export interface ServerOverrides extends Overrides<ServerSpec> {
  /** Defaults to that of the first rendering. */
  readonly history?: IdentityHistory | undefined;
  readonly secretsHash?: string | undefined;
}

const VALUES: EffectiveValues = {
  trustDomain: 'example.io',
  clusterName: 'one',
  bundleConfigMap: 'spire-bundle',
  jwtIssuer: 'https://oidc.example.io',
};

/** sampleConfig returns the operator's configuration with its defaults. */
export function sampleConfig(overrides: Partial<Config> = {}): Config {
  return applyDefaults(overrides, config.json) as Config;
}

/** sampleServer returns the input of the objects of a SpireServer. */
export function sampleServer(overrides: ServerOverrides = {}): ServerInput {
  const spec = validSpec(SpireServer, overrides.spec);
  const values = { ...VALUES, ...overrides.values };
  return {
    ...operandInput(spec, overrides),
    spec,
    values,
    history: overrides.history ?? nextHistory(undefined, values),
    secretsHash: overrides.secretsHash,
  };
}

/** sampleAgent returns the input of the objects of a SpireAgent. */
export function sampleAgent(overrides: Overrides<AgentSpec> = {}): AgentInput {
  const spec = validSpec(SpireAgent, overrides.spec);
  return { ...operandInput(spec, overrides), spec, values: { ...VALUES, ...overrides.values } };
}

/** sampleCsi returns the input of the objects of a SpiffeCSIDriver. */
export function sampleCsi(overrides: Overrides<CsiSpec> = {}): CsiInput {
  const spec = validSpec(SpiffeCSIDriver, overrides.spec);
  return { ...operandInput(spec, overrides), spec };
}

/** sampleOidc returns the input of the objects of a SpireOIDCDiscoveryProvider. */
export function sampleOidc(overrides: Overrides<OidcSpec> = {}): OidcInput {
  const spec = validSpec(SpireOIDCDiscoveryProvider, overrides.spec);
  return { ...operandInput(spec, overrides), spec, values: { ...VALUES, ...overrides.values } };
}

function operandInput(own: PodSettings, { shared, config, isOpenShift = false }: Overrides<unknown>): OperandInput {
  const pods = combinePodSettings(validSpec(ZeroTrustWorkloadIdentityManager, shared), own);
  return { pods, config: sampleConfig(config), isOpenShift };
}

interface Kind<W, T> {
  withDefaults(object: W): T;
  validate(object: unknown): readonly FieldProblem[];
}

/** Fails if the API server would refuse the spec: the objects of such a spec do not matter. */
function validSpec<W extends object, T extends { readonly spec: unknown }>(
  kind: Kind<W, T>,
  spec: object | undefined,
): T['spec'] {
  const object = kind.withDefaults({ metadata: { name: SINGLETON }, ...(spec && { spec }) } as unknown as W);
  const problems = kind.validate(object);
  if (problems.length > 0) throw new Error(`the sample is not valid: ${JSON.stringify(problems)}`);
  return object.spec;
}
