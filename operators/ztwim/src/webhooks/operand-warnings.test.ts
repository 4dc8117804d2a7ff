import { describe, expect, it } from 'vitest';
import { deprecationWarnings, mismatchWarnings, serverWarnings } from './operand-warnings.ts';
import { objectsWith, operandWith } from './shared-objects.test-support.ts';

describe('deprecationWarnings', () => {
  const created = (spec: Readonly<Record<string, unknown>>) =>
    deprecationWarnings('SpireServer', { before: undefined, after: operandWith('SpireServer', spec) });

  it('names what replaces each copy that a user sets', () => {
    expect(created({ trustDomain: 'a.io', bundleConfigMap: 'bundle', jwtIssuer: 'https://a.io' })).toEqual([
      'SpireServer.spec.trustDomain is deprecated; set ZeroTrustWorkloadIdentityManager.spec.trustDomain, and remove it here',
      'SpireServer.spec.bundleConfigMap is deprecated; set ZeroTrustWorkloadIdentityManager.spec.bundleConfig, and remove it here',
    ]);
  });

  it('leaves out copies that are inherited or unchanged', () => {
    const inherited = operandWith('SpireServer', { trustDomain: 'a.io' }, { trustDomain: 'a.io' });
    expect(deprecationWarnings('SpireServer', { before: undefined, after: inherited })).toEqual([]);
    const own = operandWith('SpireServer', { trustDomain: 'a.io' });
    expect(deprecationWarnings('SpireServer', { before: own, after: own })).toEqual([]);
  });
});

describe('serverWarnings', () => {
  it('report a password in the connection string without its value', () => {
    const datastore = { databaseType: 'mysql', connectionString: 'spire:canary@tcp(db)/spire' };
    const after = operandWith('SpireServer', { datastore });
    const warnings = serverWarnings({ before: undefined, after });
    expect(warnings).toEqual([expect.stringContaining('passwordSecretRef')]);
    expect(warnings.join()).not.toContain('canary');
    expect(serverWarnings({ before: after, after })).toEqual([]);
  });

  it('report that federation ends, or that its profile changes', () => {
    const before = operandWith('SpireServer', { federation: {} });
    expect(serverWarnings({ before, after: operandWith('SpireServer') })).toEqual([
      expect.stringContaining('spec.federation is removed'),
    ]);
    const web = { profile: 'https_web', httpsWeb: { servingCert: {} } };
    const after = operandWith('SpireServer', { federation: { bundleEndpoint: web } });
    expect(serverWarnings({ before, after })).toEqual([
      expect.stringContaining('profile changes from https_spiffe to https_web'),
    ]);
    expect(serverWarnings({ before: undefined, after })).toEqual([]);
  });
});

describe('mismatchWarnings', () => {
  const driver = operandWith('SpiffeCSIDriver', { agentSocketPath: '/run/other', pluginName: 'csi.example.io' });
  const agent = operandWith('SpireAgent');
  const provider = operandWith('SpireOIDCDiscoveryProvider');
  const objects = objectsWith(undefined, {
    SpireAgent: agent,
    SpiffeCSIDriver: driver,
    SpireOIDCDiscoveryProvider: provider,
  });

  it('name both values of a driver that differs from the agent and the OIDC discovery provider', () => {
    expect(mismatchWarnings('SpiffeCSIDriver', { before: undefined, after: driver }, objects)).toEqual([
      'SpiffeCSIDriver.spec.agentSocketPath is "/run/other", but SpireAgent.spec.socketPath is "/run/spire/agent-sockets"; workloads cannot get identities until both are equal',
      'SpiffeCSIDriver.spec.pluginName is "csi.example.io", but SpireOIDCDiscoveryProvider.spec.csiDriverName is "csi.spiffe.io"; workloads cannot get identities until both are equal',
    ]);
  });

  it('are also given to the agent and the OIDC discovery provider, but only for the field that changed', () => {
    expect(mismatchWarnings('SpireAgent', { before: undefined, after: agent }, objects)).toHaveLength(1);
    expect(mismatchWarnings('SpireAgent', { before: agent, after: agent }, objects)).toEqual([]);
    expect(
      mismatchWarnings('SpireOIDCDiscoveryProvider', { before: undefined, after: provider }, objects),
    ).toHaveLength(1);
    expect(mismatchWarnings('SpireServer', { before: undefined, after: operandWith('SpireServer') }, objects)).toEqual(
      [],
    );
  });
});
