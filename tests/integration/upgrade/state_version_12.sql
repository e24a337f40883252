-- What hostlerd of schema 12 left when it had been killed four times: its driver `mortal` ran in its own process, and
-- died in two creates and in two lists. The rows of gates, and no others.
BEGIN TRANSACTION;
CREATE TABLE attempts (        -- segment 0: no inline output
  work BIGINT NOT NULL, number BIGINT NOT NULL, instance BIGINT NOT NULL, boot_id TEXT NOT NULL,
  sequence BIGINT NOT NULL, state BIGINT NOT NULL, has_end BIGINT NOT NULL, reason BIGINT NOT NULL,
  exit_code BIGINT NOT NULL, signal BIGINT NOT NULL, text TEXT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL, output_is_inline BIGINT NOT NULL,
  has_output_files BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL,
  segment BIGINT NOT NULL, segment_offset BIGINT NOT NULL, stdout_inline BIGINT NOT NULL,
  stderr_inline BIGINT NOT NULL, kind BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (work, number)) WITHOUT ROWID;
CREATE TABLE creates (         -- intents, whole, until the instance is verified; secrets
  instance INTEGER PRIMARY KEY, request TEXT NOT NULL);
CREATE TABLE gates (
  key TEXT PRIMARY KEY, set_name TEXT NOT NULL, op BIGINT NOT NULL, cls BIGINT NOT NULL,
  scope BIGINT NOT NULL, type TEXT NOT NULL, quota_group TEXT NOT NULL, zone TEXT NOT NULL,
  subnet TEXT NOT NULL, region TEXT NOT NULL, market BIGINT NOT NULL, until_us BIGINT NOT NULL,
  failures BIGINT NOT NULL, message TEXT NOT NULL, pool TEXT NOT NULL DEFAULT '', image TEXT NOT NULL DEFAULT '', instance BIGINT NOT NULL DEFAULT 0, under_way BIGINT NOT NULL DEFAULT 0, has_crash BIGINT NOT NULL DEFAULT 0, driver TEXT NOT NULL DEFAULT '', driver_version TEXT NOT NULL DEFAULT '', driver_file TEXT NOT NULL DEFAULT '', call TEXT NOT NULL DEFAULT '', ending TEXT NOT NULL DEFAULT '', output TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
INSERT INTO "gates" VALUES('bad driver_crashes op=create type=poison market=on_demand pool=bad','bad',1,15,97,'poison','','','','',0,1795894174944404,2,'twice in a row: driver mortal 0.7 may have ended hostlerd, which died in create','bad','',0,0,1,'mortal','0.7','9988315-51728-1795889160.809445937','create','may have ended hostlerd, which died','');
INSERT INTO "gates" VALUES('bad driver_crashes op=list','bad',2,15,64,'','','','','',-1,0,1,'driver mortal 0.7 may have ended hostlerd, which died in list','','',0,1,1,'mortal','0.7','9988315-51728-1795889160.809445937','list','may have ended hostlerd, which died','');
INSERT INTO "gates" VALUES('bad driver_crashes op=quota_group','bad',8,15,64,'','','','','',-1,0,1,'driver mortal 0.7 may have ended hostlerd, which died in quota_group','','',0,1,1,'mortal','0.7','9988315-51728-1795889160.809445937','quota_group','may have ended hostlerd, which died','');
INSERT INTO "gates" VALUES('bad driver_crashes op=watch','bad',14,15,64,'','','','','',-1,0,1,'driver mortal 0.7 may have ended hostlerd, which died in watch','','',0,1,1,'mortal','0.7','9988315-51728-1795889160.809445937','watch','may have ended hostlerd, which died','');
CREATE TABLE images (          -- the newest image that a query of a set has found
  set_name TEXT NOT NULL, query TEXT NOT NULL, image TEXT NOT NULL, name TEXT NOT NULL,
  owner TEXT NOT NULL, architecture TEXT NOT NULL, created_us BIGINT NOT NULL,
  found_us BIGINT NOT NULL,
  PRIMARY KEY (set_name, query)) WITHOUT ROWID;
CREATE TABLE instances (       -- holds secrets; see also creates
  id INTEGER PRIMARY KEY, set_name TEXT NOT NULL, pool TEXT NOT NULL, type TEXT NOT NULL,
  zone TEXT NOT NULL, market BIGINT NOT NULL, price_per_hour BIGINT NOT NULL,
  state BIGINT NOT NULL, idle_behavior BIGINT NOT NULL, health BIGINT NOT NULL,
  provider_id TEXT NOT NULL, request_id TEXT NOT NULL, idempotency_key TEXT NOT NULL,
  epoch BIGINT NOT NULL, address TEXT NOT NULL, remote_user TEXT NOT NULL,
  ssh_port BIGINT NOT NULL, delivered_private_key TEXT NOT NULL,
  delivered_public_key TEXT NOT NULL, challenge_secret TEXT NOT NULL, public_key TEXT NOT NULL,
  next_public_key TEXT NOT NULL, next_secret TEXT NOT NULL, verified_by BIGINT NOT NULL,
  rotation BIGINT NOT NULL, boot_id TEXT NOT NULL, last_sequence BIGINT NOT NULL,
  destroy_tries BIGINT NOT NULL, absent_sightings BIGINT NOT NULL, reason_code TEXT NOT NULL,
  reason TEXT NOT NULL, last_text TEXT NOT NULL, created_us BIGINT NOT NULL,
  verified_us BIGINT NOT NULL, ready_us BIGINT NOT NULL, first_job_us BIGINT NOT NULL,
  state_since_us BIGINT NOT NULL, gone_us BIGINT NOT NULL, deadline_us BIGINT NOT NULL, off_us BIGINT NOT NULL DEFAULT 0, vcpu_thousandths BIGINT NOT NULL DEFAULT 0, gpus BIGINT NOT NULL DEFAULT 0, ram BIGINT NOT NULL DEFAULT 0, scratch BIGINT NOT NULL DEFAULT 0, restored BIGINT NOT NULL DEFAULT 0, has_notice BIGINT NOT NULL DEFAULT 0, notice_source BIGINT NOT NULL DEFAULT 0, notice_action BIGINT NOT NULL DEFAULT 0, noticed_us BIGINT NOT NULL DEFAULT 0, interruption_us BIGINT NOT NULL DEFAULT 0, notice_text TEXT NOT NULL DEFAULT '');
CREATE TABLE ledger (
  rev INTEGER PRIMARY KEY, time_us BIGINT NOT NULL, epoch BIGINT NOT NULL, actor TEXT NOT NULL,
  subject TEXT NOT NULL, event TEXT NOT NULL, reason_code TEXT NOT NULL, reason TEXT NOT NULL,
  cause_rev BIGINT NOT NULL, data TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('schema_version','12');
INSERT INTO "meta" VALUES('owner','4d0b5f778a56bd83a06de6678b3ddf80');
INSERT INTO "meta" VALUES('epoch','4');
CREATE TABLE offered_types (   -- what the clouds offer, one row for each zone
  set_name TEXT NOT NULL, provider_type TEXT NOT NULL, market BIGINT NOT NULL, zone TEXT NOT NULL,
  name TEXT NOT NULL, architecture TEXT NOT NULL, vcpu_thousandths BIGINT NOT NULL, gpus BIGINT NOT NULL,
  ram BIGINT NOT NULL, scratch BIGINT NOT NULL, has_price BIGINT NOT NULL,
  price_per_hour BIGINT NOT NULL, currency TEXT NOT NULL, available BIGINT NOT NULL,
  PRIMARY KEY (set_name, provider_type, market, zone)) WITHOUT ROWID;
CREATE TABLE prices (          -- from start_us on, until the next of that set, type, zone, market
  set_name TEXT NOT NULL, type TEXT NOT NULL, zone TEXT NOT NULL, market BIGINT NOT NULL,
  start_us BIGINT NOT NULL, price_per_hour BIGINT NOT NULL,
  PRIMARY KEY (set_name, type, market, zone, start_us)) WITHOUT ROWID;
CREATE TABLE ram_reports (     -- the least RAM of hosts, while the menu's of their type is menu_ram
  set_name TEXT NOT NULL, type TEXT NOT NULL, menu_ram BIGINT NOT NULL, ram BIGINT NOT NULL,
  PRIMARY KEY (set_name, type)) WITHOUT ROWID;
CREATE TABLE sets (            -- the account that a set's instances are in; empty: not known
  name TEXT PRIMARY KEY, account TEXT NOT NULL, region TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE uses (            -- what each principal has used lately, decayed until as_of_us
  principal TEXT PRIMARY KEY, micros BIGINT NOT NULL, as_of_us BIGINT NOT NULL) WITHOUT ROWID;
CREATE TABLE "work" (            -- what of a job changes
  id INTEGER PRIMARY KEY, state BIGINT NOT NULL, reason BIGINT NOT NULL, reason_text TEXT NOT NULL,
  attempt BIGINT NOT NULL, starts BIGINT NOT NULL, instance BIGINT NOT NULL,
  cancel_requested BIGINT NOT NULL, exit_code BIGINT NOT NULL, signal BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL,
  started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL, kind BIGINT NOT NULL DEFAULT 0, refused_by TEXT NOT NULL DEFAULT '', placed_us BIGINT NOT NULL DEFAULT 0, restored BIGINT NOT NULL DEFAULT 0, interrupted BIGINT NOT NULL DEFAULT 0);
CREATE TABLE "work_specs" (       -- what does not; body last, so that the rest is read without it
  id INTEGER PRIMARY KEY, arrival BIGINT NOT NULL, vcpu_thousandths BIGINT NOT NULL, gpus BIGINT NOT NULL,
  ram BIGINT NOT NULL, scratch BIGINT NOT NULL, types TEXT NOT NULL, market BIGINT NOT NULL,
  zone TEXT NOT NULL, priority BIGINT NOT NULL, restartable BIGINT NOT NULL,
  attempts_max BIGINT NOT NULL, principal TEXT NOT NULL, name TEXT NOT NULL,
  client_key TEXT NOT NULL, client_digest TEXT NOT NULL, submitted_us BIGINT NOT NULL,
  body TEXT NOT NULL, start_failures_max BIGINT NOT NULL DEFAULT 10);
CREATE INDEX job_specs_by_principal ON "work_specs" (principal, id);
CREATE INDEX job_specs_by_name ON "work_specs" (name, id) WHERE name <> '';
CREATE INDEX job_specs_by_client_key ON "work_specs" (principal, client_key) WHERE client_key <> '';
CREATE INDEX attempts_by_segment ON attempts (segment) WHERE segment > 0;
CREATE INDEX instances_by_state ON instances (state, id);
CREATE INDEX ledger_by_subject ON ledger (subject, rev);
CREATE INDEX work_by_state ON work (state, kind, id);
CREATE INDEX attempts_open ON attempts (work, number) WHERE state <> 2;
COMMIT;
