"""The kills of a daemon or its driver at points all along a create, whatever the cloud."""

import os

from scratch_site import PATIENCE

POINTS = 10


class KilledCreates:
    """A part of a test case. It has a `site` with one pool, and a `wire` between driver and cloud."""

    def round(self, point, victim, job):
        """A job that needs a new host, and the kill when so much has passed."""
        name = self.site.submit(job)[0]
        killed = self.wire.call_after(point, self.site.daemon.kill if victim == "daemon" else self.site.kill_driver)
        self.assertTrue(killed.wait(PATIENCE), f"{point} pieces pass")
        if victim == "daemon":
            self.site.daemon.wait()
            self.site.start()

        self.assertEqual(self.site.wait_for_end(name)["state"], "succeeded")
        self.site.wait_for_nothing()

    def kill_along(self, last_piece, job, variable):
        """`last_piece`: how many pieces pass from the create until the host has booted, about. `variable`: of the
        environment, which says how many points there are."""
        points = int(os.environ.get(variable, str(POINTS)))
        self.site.start()
        for n in range(points):
            point = 1 + n * last_piece // points
            victim = ("daemon", "driver")[n % 2]
            with self.subTest(victim=victim, point=point):
                self.round(point, victim, job)
