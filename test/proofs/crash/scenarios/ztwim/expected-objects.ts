import { agentObjects } from '../../../../../operators/ztwim/src/agent/agent-objects.ts';
import { OPERAND_KINDS, type OperandKind } from '../../../../../operators/ztwim/src/api/operand-kinds.ts';
import { csiObjects } from '../../../../../operators/ztwim/src/csi/csi-objects.ts';
import type { Child } from '../../../../../operators/ztwim/src/objects/child.ts';
import { oidcObjects } from '../../../../../operators/ztwim/src/oidc/oidc-objects.ts';
import { inheritedAnnotation } from '../../../../../operators/ztwim/src/resolve/copies.ts';
import { fieldsOf } from '../../../../../operators/ztwim/src/resolve/shared-config.ts';
import { serverObjects } from '../../../../../operators/ztwim/src/server/server-objects.ts';
import { nextHistory } from '../../../../../operators/ztwim/src/spire/identity-history.ts';
import {
  sampleAgent,
  sampleCsi,
  sampleOidc,
  sampleServer,
} from '../../../../../operators/ztwim/src/testing/sample-inputs.test-support.ts';
import type { Expected } from './judge.ts';

/** Values are the shared values of an installation. */
export interface Values {
  readonly trustDomain: string;
  readonly clusterName: string;
  readonly bundleConfigMap: string;
  readonly jwtIssuer: string;
}

/** legacySpecs are the specs of the five objects of an older installation: the operands have the values. */
export function legacySpecs({ jwtIssuer, ...values }: Values): Readonly<Record<string, object>> {
  const { trustDomain, clusterName } = values;
  return {
    ZeroTrustWorkloadIdentityManager: { jwtIssuer },
    SpireServer: values,
    SpireAgent: { trustDomain, clusterName },
    SpiffeCSIDriver: {},
    SpireOIDCDiscoveryProvider: {},
  };
}

/** expectedBeforeMigration returns what exists while the operands have the values. */
export function expectedBeforeMigration(values: Values): readonly Expected[] {
  const five = Object.entries(legacySpecs(values)).map(([kind, spec]) => ({
    id: `${kind} cluster`,
    content: { spec },
  }));
  return [...five, ...expectedChildren(values, undefined)];
}

/** expectedObjects returns what exists after values were used, and others before them. */
export function expectedObjects(values: Values, before: Values | undefined): readonly Expected[] {
  return [
    { id: 'ZeroTrustWorkloadIdentityManager cluster', content: { spec: values } },
    ...OPERAND_KINDS.map((kind) => ({ id: `${kind} cluster`, content: operandWith(kind, values) })),
    ...expectedChildren(values, before),
  ];
}

function expectedChildren(values: Values, before: Values | undefined): readonly Expected[] {
  const history = nextHistory(before && nextHistory(undefined, before), values);
  const children = [
    ...serverObjects(sampleServer({ values, history })),
    ...agentObjects(sampleAgent({ values })),
    ...csiObjects(sampleCsi()),
    ...oidcObjects(sampleOidc({ values })),
  ];
  return [
    ...children.map(({ resource, object }: Child) => ({
      id: `${resource.kind} ${object.metadata?.name}`,
      content: { ...object, apiVersion: undefined, kind: undefined },
    })),
    { id: 'Secret oidc-serving-cert', content: undefined },
  ];
}

function operandWith(kind: OperandKind, values: Values): object {
  const inherited = Object.fromEntries(fieldsOf(kind).map((field) => [field, values[field]]));
  const annotations = fieldsOf(kind).length === 0 ? {} : { 'ztwim.io/inherited': inheritedAnnotation(inherited) };
  return {
    metadata: { annotations, ownerReferences: [{ kind: 'ZeroTrustWorkloadIdentityManager', controller: true }] },
    spec: inherited,
  };
}
