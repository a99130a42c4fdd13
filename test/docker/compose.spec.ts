import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@app/kernel';
import Ajv2020 from 'ajv/dist/2020';
import { parse } from 'yaml';

const folder = join(__dirname, '../../docker');
const text = readFileSync(join(folder, 'compose.yml'), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: { readonly test: unknown };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly read_only?: boolean;
  readonly user?: string;
}

const compose = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: Readonly<Record<string, { internal?: boolean } | null>>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, service]) => service.build !== undefined);
const servers = services.filter(([, service]) => service.build === undefined);

/** `${NAME:?...}` and `${NAME:-...}` as Compose fills them in. */
const filled = (value: string, given: Readonly<Record<string, string>>): string =>
  value.replaceAll(/\$\{([A-Z_0-9]+):([?-])([^}]*)\}/g, (_, name: string, kind: string, other: string) => {
    const known = given[name];
    if (known === undefined && kind === '?') throw new Error(`${name} is not given`);
    return known ?? other;
  });

describe('docker/compose.yml', () => {
  it('is a Compose file', () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(readFileSync(join(__dirname, 'compose-spec.json'), 'utf8')) as object,
    );
    validate(parse(text, { merge: true }));
    expect(validate.errors).toBeNull();
  });

  it('is what `docker compose config` accepts, where Docker Compose is', () => {
    const compose = (...options: string[]): Buffer =>
      execFileSync('docker', ['compose', ...options], { stdio: 'pipe', env: { ...process.env, ...secrets } });
    try {
      compose('version');
    } catch {
      return void process.stdout.write('docker compose is not here: its file was checked against the schema alone\n');
    }
    expect(() => compose('--file', join(folder, 'compose.yml'), 'config', '--quiet')).not.toThrow();
  });

  it('runs the three roles on all the servers, with a configuration that the product accepts', () => {
    const roles = ours.map(
      ([, { environment = {} }]) =>
        readConfig(
          Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value, secrets)])),
        ).ROLES,
    );
    expect(roles).toEqual([['api'], ['projector'], ['worker']]);
  });

  it('starts ours when every server is healthy, as nobody in particular, on a file system that cannot be written', () => {
    for (const [, service] of ours) {
      expect(Object.keys(service.depends_on ?? {}).toSorted()).toEqual(servers.map(([name]) => name).toSorted());
      expect(Object.values(service.depends_on ?? {}).map(({ condition }) => condition)).toEqual(
        servers.map(() => 'service_healthy'),
      );
      expect(service).toMatchObject({
        read_only: true,
        user: 'node',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it.each(servers)(
    'pins %s, asks for its health, keeps its data in a volume and shows it to nobody outside',
    (_, service) => {
      expect(service.image).toMatch(/:v?\d+\.\d+\.\d+$/);
      expect(service.healthcheck).toBeDefined();
      expect(service.ports).toBeUndefined();
      expect(service.networks).toEqual(['inside']);
      expect(Object.keys(compose.volumes)).toContain(service.volumes?.[0]?.split(':')[0]);
      expect(compose.networks['inside']).toEqual({ internal: true });
    },
  );

  it('opens one port, on loopback unless told otherwise', () => {
    expect(ours.flatMap(([, { ports = [] }]) => ports).map((port) => filled(port, {}))).toEqual([
      '127.0.0.1:3000:3000',
    ]);
  });

  it('has a default for no secret, and the example names every one of them', () => {
    const asked = new Set([...text.matchAll(/\$\{([A-Z_0-9]+):\?/g)].map(([, name]) => name));
    const example = readFileSync(join(folder, '.env.example'), 'utf8');
    expect([...example.matchAll(/^([A-Z_0-9]+)=$/gm)].map(([, name]) => name).toSorted()).toEqual(
      [...asked].toSorted(),
    );
    expect(text).not.toMatch(/(PASSWORD|SECRET|_KEY): (?!\$\{)/);
  });
});

const secrets = Object.fromEntries(
  [
    'VAULT_KEY',
    'SEAL_KEY',
    'BOOTSTRAP_API_KEY',
    'MONGO_PASSWORD',
    'MONGO_REPLICA_KEY',
    'ELASTIC_PASSWORD',
    'S3_KEY',
    'S3_SECRET',
  ].map((name) => [name, `${name.toLowerCase()}-0123456789abcdef0123456789abcdef`]),
);
