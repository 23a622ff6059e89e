namespace Acme.Web;

#region services
public class Service(int port) : Base(port)
{
    public void Run() { }
}
#endregion
