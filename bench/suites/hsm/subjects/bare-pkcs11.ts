// pkcs11js in the same process: finds each of the three objects of a secret by its label, and reads its value.
import { loadPkcs11 } from '../../../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { CKA, CKF, CKO_DATA, CKU } from '../../../../operators/hsm-secrets/src/pkcs11/pkcs11-api.ts';
import { subjectInput } from '../../../support/subject.ts';
import { contentOf, pathOf } from '../vault-content.ts';
import { serveReads } from './serve-reads.ts';

const { options } = subjectInput();
const api = loadPkcs11({ library: String(options.library), pkcs11js: String(options.pkcs11js) });
api.C_Initialize();
const [slot] = api
  .C_GetSlotList(true)
  .filter((each) => api.C_GetTokenInfo(each).label.trim().replaceAll('\0', '') === String(options.label));
if (slot === undefined) throw new Error(`there is no token ${options.label}`);
const session = api.C_OpenSession(slot, CKF.SERIAL_SESSION);
api.C_Login(session, CKU.USER, String(options.pin));
const labels = Object.keys(contentOf(0)).map((key) => Buffer.from(`${pathOf(0)}/${key}`));

function readValue(label: Buffer): number {
  api.C_FindObjectsInit(session, [
    { type: CKA.CLASS, value: CKO_DATA },
    { type: CKA.LABEL, value: label },
  ]);
  const [object] = api.C_FindObjects(session, 1);
  api.C_FindObjectsFinal(session);
  if (object === undefined) return 0;
  const [attribute] = api.C_GetAttributeValue(session, object, [{ type: CKA.VALUE }]);
  return attribute === undefined ? 0 : 1;
}

await serveReads(() => labels.map(readValue).reduce((sum, each) => sum + each, 0));
