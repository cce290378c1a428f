# A link fails for good, a switch crashes and comes back, a link and a switch
# are taken out and put back as planned, the controller itself dies: what stays
# connected goes on. Run it with config/recovery.cfg.
wait up
traffic load 0.002
start
wait 100ms

# a link fails and stays dark: detected, rerouted locally, new tables
link s0.0-s0.1 down
wait recovered
show controller
wait 100ms

# a switch stops dead: its endpoint is unreachable, everybody else goes on
device s2.2 crash
wait recovered
wait 100ms

# it begins anew, without any state; so does its endpoint's traffic
device s2.2 restart
wait recovered
link s0.0-s0.1 up
wait recovered
wait up

# planned: routes leave a link and a switch before they go down
link s1.0-s1.1 remove
device s3.1 remove
wait recovered
wait 100ms
device s3.1 add
link s1.0-s1.1 add
wait recovered

# the controller is away when a link fails: local detours serve meanwhile
controller crash
link s3.0-s3.1 down
wait dead s3.0-s3.1
wait 100ms
controller restart
wait recovered
link s3.0-s3.1 up
wait recovered
wait up

stop
wait drained
show recoveries
quit
