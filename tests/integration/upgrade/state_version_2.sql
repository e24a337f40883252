BEGIN TRANSACTION;
CREATE TABLE attempts (        -- segment 0: no inline output
  job BIGINT NOT NULL, number BIGINT NOT NULL, instance BIGINT NOT NULL, boot_id TEXT NOT NULL,
  sequence BIGINT NOT NULL, state BIGINT NOT NULL, has_end BIGINT NOT NULL, reason BIGINT NOT NULL,
  exit_code BIGINT NOT NULL, signal BIGINT NOT NULL, text TEXT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL, output_is_inline BIGINT NOT NULL,
  has_output_files BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL,
  segment BIGINT NOT NULL, segment_offset BIGINT NOT NULL, stdout_inline BIGINT NOT NULL,
  stderr_inline BIGINT NOT NULL,
  PRIMARY KEY (job, number)) WITHOUT ROWID;
INSERT INTO "attempts" VALUES(1,1,1,'882492dc268cf01898c58c7f57702748/e727efb89d8d7ba59700240d29826795',1,0,0,1,0,0,'',0,0,1,0,0,0,0,0,0,0,0,0,0);
INSERT INTO "attempts" VALUES(5,1,1,'882492dc268cf01898c58c7f57702748/e727efb89d8d7ba59700240d29826795',3,1,1,1,0,0,'',161600000,0,0,1,1668041,1617920,0,1795447796009895,1795447802827049,0,0,0,0);
CREATE TABLE creates (         -- intents, whole, until the instance is verified; secrets
  instance INTEGER PRIMARY KEY, request TEXT NOT NULL);
CREATE TABLE gates (
  key TEXT PRIMARY KEY, set_name TEXT NOT NULL, op BIGINT NOT NULL, cls BIGINT NOT NULL,
  scope BIGINT NOT NULL, type TEXT NOT NULL, quota_group TEXT NOT NULL, zone TEXT NOT NULL,
  subnet TEXT NOT NULL, region TEXT NOT NULL, market BIGINT NOT NULL, until_us BIGINT NOT NULL,
  failures BIGINT NOT NULL, message TEXT NOT NULL) WITHOUT ROWID;
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
  state_since_us BIGINT NOT NULL, gone_us BIGINT NOT NULL, deadline_us BIGINT NOT NULL, off_us BIGINT NOT NULL DEFAULT 0, vcpus BIGINT NOT NULL DEFAULT 0, gpus BIGINT NOT NULL DEFAULT 0, ram BIGINT NOT NULL DEFAULT 0, scratch BIGINT NOT NULL DEFAULT 0);
INSERT INTO "instances" VALUES(1,'local','default','small','local',0,20000,4,0,0,'i-c37d0429de5da4a6','','c9c453fd-6153-4c48-ac6f-4ef9988e129f',1,'127.83.68.114','root',2200,'','ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGQJ68mv0goLK1bDIBYHuVV4hbbnbRiZRJM31L9u/g+O','0000000000000000000000000000000000000000000000000000000000000000','ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEmsoksJASym4olK2Png2r02+PyNkTcm6bxVrCDtI3PC','','',1,2,'882492dc268cf01898c58c7f57702748/e727efb89d8d7ba59700240d29826795',1,0,0,'','','',1795447715076996,1795447715394201,1795447715733610,1795447720147130,1795447720147130,0,0,0,2,0,2147483648,10737418240);
CREATE TABLE job_specs (       -- what does not; body last, so that the rest is read without it
  id INTEGER PRIMARY KEY, arrival BIGINT NOT NULL, vcpus BIGINT NOT NULL, gpus BIGINT NOT NULL,
  ram BIGINT NOT NULL, scratch BIGINT NOT NULL, types TEXT NOT NULL, market BIGINT NOT NULL,
  zone TEXT NOT NULL, priority BIGINT NOT NULL, restartable BIGINT NOT NULL,
  attempts_max BIGINT NOT NULL, principal TEXT NOT NULL, name TEXT NOT NULL,
  client_key TEXT NOT NULL, client_digest TEXT NOT NULL, submitted_us BIGINT NOT NULL,
  body TEXT NOT NULL);
INSERT INTO "job_specs" VALUES(1,1,1,0,1073741824,0,'',-1,'',0,0,3,'user root','runs','','',1795447720145135,'{"name":"runs","command":["sh","-c","echo begun; sleep 1500; echo ended"],"needs":{"vcpus":1,"ram":"1GiB"},"attempts_max":3}');
INSERT INTO "job_specs" VALUES(3,3,2,0,1073741824,0,'',-1,'',0,0,3,'user root','waits','','',1795447720696889,'{"name":"waits","command":["echo","waited"],"needs":{"vcpus":2,"ram":"1GiB"},"attempts_max":3}');
INSERT INTO "job_specs" VALUES(4,4,2,0,1073741824,0,'',-1,'',0,0,3,'user root','waits2','','',1795447721000641,'{"name":"waits2","command":["echo","waited2"],"needs":{"vcpus":2,"ram":"1GiB"},"attempts_max":3}');
INSERT INTO "job_specs" VALUES(5,5,1,0,1073741824,0,'',-1,'',0,0,3,'user root','collects','','',1795447795997424,'{"name":"collects","script":"head -c 120000000 /dev/urandom | base64 -w 100; for i in $(seq 400); do head -c 100000 /dev/urandom > f$i; done","needs":{"vcpus":1,"ram":"1GiB"},"outputs":["f*"],"attempts_max":3}');
CREATE TABLE jobs (            -- what of a job changes
  id INTEGER PRIMARY KEY, state BIGINT NOT NULL, reason BIGINT NOT NULL, reason_text TEXT NOT NULL,
  attempt BIGINT NOT NULL, starts BIGINT NOT NULL, instance BIGINT NOT NULL,
  cancel_requested BIGINT NOT NULL, exit_code BIGINT NOT NULL, signal BIGINT NOT NULL,
  limits_enforced BIGINT NOT NULL, cpu_us BIGINT NOT NULL, ram_peak BIGINT NOT NULL,
  stdout_bytes BIGINT NOT NULL, stderr_bytes BIGINT NOT NULL,
  started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL);
INSERT INTO "jobs" VALUES(1,2,0,'',1,1,1,0,0,0,0,0,0,0,0,1795447720148623,0);
INSERT INTO "jobs" VALUES(3,0,0,'',0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO "jobs" VALUES(4,0,0,'',0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO "jobs" VALUES(5,3,1,'',1,1,1,0,0,0,0,1668041,1617920,161600000,0,1795447796009895,1795447802827049);
CREATE TABLE ledger (
  rev INTEGER PRIMARY KEY, time_us BIGINT NOT NULL, epoch BIGINT NOT NULL, actor TEXT NOT NULL,
  subject TEXT NOT NULL, event TEXT NOT NULL, reason_code TEXT NOT NULL, reason TEXT NOT NULL,
  cause_rev BIGINT NOT NULL, data TEXT NOT NULL);
INSERT INTO "ledger" VALUES(1,1795447714975195,1,'restart','site','started','','epoch 1',0,'');
INSERT INTO "ledger" VALUES(2,1795447714993521,1,'cloud','set local','opened','','account local',0,'');
INSERT INTO "ledger" VALUES(3,1795447715076996,1,'scheduler','h-1','create_intended','small','minimum of 1 in pool default',0,'');
INSERT INTO "ledger" VALUES(4,1795447715090218,1,'cloud','h-1','created','','the cloud''s id is i-c37d0429de5da4a6',0,'');
INSERT INTO "ledger" VALUES(5,1795447715394201,1,'host','h-1','verified','delivered','host key proved',0,'');
INSERT INTO "ledger" VALUES(6,1795447715733610,1,'host','h-1','ready','','',0,'');
INSERT INTO "ledger" VALUES(7,1795447716669075,1,'host','h-1','key_rotated','','a new connection showed the next key',0,'');
INSERT INTO "ledger" VALUES(8,1795447720145135,1,'user','j-1','submitted','','by user root',0,'');
INSERT INTO "ledger" VALUES(9,1795447720147130,1,'dispatcher','j-1','starting','','on h-1',0,'');
INSERT INTO "ledger" VALUES(12,1795447720696889,1,'user','j-3','submitted','','by user root',0,'');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('schema_version','2');
INSERT INTO "meta" VALUES('owner','d3606c01c99e2979e189e518b964ac46');
INSERT INTO "meta" VALUES('epoch','1');
CREATE TABLE prices (          -- from start_us on, until the next of that set, type, zone, market
  set_name TEXT NOT NULL, type TEXT NOT NULL, zone TEXT NOT NULL, market BIGINT NOT NULL,
  start_us BIGINT NOT NULL, price_per_hour BIGINT NOT NULL,
  PRIMARY KEY (set_name, type, market, zone, start_us)) WITHOUT ROWID;
INSERT INTO "prices" VALUES('local','small','local',0,0,20000);
CREATE INDEX jobs_by_state ON jobs (state, id);
CREATE INDEX job_specs_by_principal ON job_specs (principal, id);
CREATE INDEX job_specs_by_name ON job_specs (name, id) WHERE name <> '';
CREATE INDEX job_specs_by_client_key ON job_specs (principal, client_key) WHERE client_key <> '';
CREATE INDEX attempts_open ON attempts (job, number) WHERE state < 2;
CREATE INDEX attempts_by_segment ON attempts (segment) WHERE segment > 0;
CREATE INDEX instances_by_state ON instances (state, id);
CREATE INDEX ledger_by_subject ON ledger (subject, rev);
COMMIT;
