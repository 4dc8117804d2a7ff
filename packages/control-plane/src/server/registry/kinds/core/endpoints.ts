import type { EndpointSubset, Endpoints } from '@bowline/kubernetes';
import { dnsLabelProblems, dnsSubdomainProblems, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { KindRules } from '../../built-in-strategy.ts';
import { addressProblems, endpointAddressProblems } from '../shared/address-problems.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, invalids, oneOf, outside, required } from '../shared/problems.ts';
import { dropEmpty } from '../shared/zero-values.ts';

/** The number of addresses that a table displays. */
const MAX_DISPLAYED = 3;

/** endpointsRules validates the addresses of a Service's pods, in the form that preceded EndpointSlices. */
export const endpointsRules: KindRules = {
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  applyDefaults(object) {
    for (const { ports = [] } of as<Endpoints>(object).subsets ?? []) {
      for (const port of ports) {
        port.protocol ||= 'TCP';
        dropEmpty(port, 'name');
      }
    }
  },
  validate: (object) =>
    (as<Endpoints>(object).subsets ?? []).flatMap((subset, index) => subsetProblems(`subsets[${index}]`, subset)),
  columns: [
    column('Endpoints', 'Addresses that receive traffic.', (object) => shown(as<Endpoints>(object).subsets ?? [])),
    AGE,
  ],
};

function subsetProblems(at: string, subset: PartialObject<EndpointSubset>): FieldProblem[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const problems: FieldProblem[] = [];
  if (addresses.length + notReadyAddresses.length === 0)
    problems.push(required(at, 'must specify `addresses` or `notReadyAddresses`'));
  for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, { ip = '', hostname, nodeName }] of list.entries()) {
      const here = `${at}.${name}[${index}]`;
      const wrong = addressProblems(`${here}.ip`, ip);
      problems.push(...wrong);
      if (hostname) problems.push(...invalids(`${here}.hostname`, hostname, dnsLabelProblems(hostname)));
      if (nodeName) problems.push(...invalids(`${here}.nodeName`, nodeName, dnsSubdomainProblems(nodeName)));
      if (wrong.length > 0) problems.push(invalid(`${here}.ip`, ip, 'must be a valid IP address'));
      else problems.push(...endpointAddressProblems(`${here}.ip`, ip));
    }
  }
  for (const [index, { name, port, protocol, appProtocol }] of ports.entries()) {
    const here = `${at}.ports[${index}]`;
    if (name) problems.push(...invalids(`${here}.name`, name, dnsLabelProblems(name)));
    else if (ports.length > 1) problems.push(required(`${here}.name`));
    problems.push(...outside(`${here}.port`, port, 1, 65_535));
    problems.push(...oneOf(`${here}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
    if (appProtocol !== undefined)
      problems.push(...invalids(`${here}.appProtocol`, appProtocol, labelKeyProblems(appProtocol)));
  }
  return problems;
}

function shown(subsets: readonly PartialObject<EndpointSubset>[]): string {
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => `${ip}`)
      : ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip?.includes(':') ? `[${ip}]` : ip}:${port}`)),
  );
  if (all.length === 0) return '<none>';
  const more = all.length - MAX_DISPLAYED;
  return `${all.slice(0, MAX_DISPLAYED).join(',')}${more > 0 ? ` + ${more} more...` : ''}`;
}
